import Chassis
import Hummingbird

/// The HTTP server that app backends ask.
struct APIServer: Service {
    let address: ListenAddress
    let idleTimeout: Duration
    let maximumConnections: Int
    let service: APIService
    let logger: Logger
    /// Told the port when connections are accepted.
    let onListening: @Sendable (Int) -> Void

    func run() async throws {
        let service = service
        let listener = HTTPListener(
            address: address, variable: "STOREKEEPER_API_ADDRESS", purpose: "requests cannot be received on",
            announcement: "Answering requests", logger: logger, onListening: onListening)
        try await listener.run(
            CallbackResponder<BasicRequestContext> { request, _ in
                Self.response(await service.answer(request), to: request)
            },
            server: .http1(
                configuration: .init(idleTimeout: .nanoseconds(Int64(idleTimeout / .nanoseconds(1))))),
            backlog: 1024, maximumConnections: maximumConnections)
    }

    private static func response(_ answer: APIResponse, to request: Request) -> Response {
        let status = HTTPResponse.Status(code: answer.status)
        switch answer.body {
        case .stream(let write):
            return Response(
                status: status, headers: answer.headers,
                body: ResponseBody { writer in
                    try await write(&writer)
                    try await writer.finish(nil)
                })
        case .bytes(let bytes):
            // The answer to HEAD has no body; what followed would be taken for the next answer.
            let buffer = request.method == .head ? ByteBuffer() : ByteBuffer(bytes: bytes)
            return Response(status: status, headers: answer.headers, body: ResponseBody(byteBuffer: buffer))
        }
    }
}
