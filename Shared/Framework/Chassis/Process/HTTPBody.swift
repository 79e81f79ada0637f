import Hummingbird

/// The body of an answer.
public enum HTTPBody: Sendable {
    case bytes([UInt8])
    /// Made once for many answers, which share its storage: a client that does not read holds no copy of its own.
    case shared(ByteBuffer)
    /// Written piece by piece until the closure returns.
    case stream(@Sendable (inout any ResponseBodyWriter) async throws -> Void)

    /// The answer with this body.
    public func response(status: Int, headers: HTTPFields, to request: Request) -> Response {
        let status = HTTPResponse.Status(code: status)
        // The answer to HEAD has no body; what followed would be taken for the next answer.
        guard request.method != .head else {
            return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer()))
        }
        switch self {
        case .stream(let write):
            return Response(
                status: status, headers: headers,
                body: ResponseBody { writer in
                    try await write(&writer)
                    try await writer.finish(nil)
                })
        case .bytes(let bytes):
            return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
        case .shared(let buffer):
            return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: buffer))
        }
    }
}
