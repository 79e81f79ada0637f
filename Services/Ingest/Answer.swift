import Hummingbird

extension Receiver {
    /// The error that the head alone decides; nil if the body is to be read.
    static func rejection(of head: HTTPRequest, limits: Limits) -> RequestRejection? {
        guard (head.path ?? "").prefix(while: { $0 != "?" }) == path else { return .noSuchPath }
        guard head.method == .post else { return .method }
        if let type = head.headerFields[.contentType], !isJSON(type) { return .contentType }
        if let length = head.headerFields[.contentLength].flatMap({ Int($0) }), length > limits.body {
            return .tooLarge(limit: limits.body)
        }
        return nil
    }

    /// `application/json`, whatever its case and parameters.
    private static func isJSON(_ type: String) -> Bool {
        let essence = type.prefix { $0 != ";" && $0 != " " }
        return essence.lowercased() == "application/json"
    }

    /// Answers with a status and the reason. The connection stays open if the rest of the body could be read.
    func reject(_ rejection: RequestRejection, _ request: Request, _ reader: inout RequestReader) async -> Response {
        tally.rejected(rejection)
        logger.debug("Rejected", metadata: ["reason": "\(rejection.name)"])
        var headers: HTTPFields = [.contentType: "application/json"]
        if rejection == .method { headers[.allow] = "POST" }
        if rejection.status == 503 { headers[.retryAfter] = "60" }
        let status = HTTPResponse.Status(code: rejection.status)
        // The answer to HEAD has no body; a body would be taken for the next answer.
        let buffer = request.method == .head ? ByteBuffer() : ByteBuffer(bytes: rejection.json)
        // A client that sent Expect has sent no body yet; a slow one has used up its time.
        let isWorthReading = request.headers[.expect] == nil && rejection != .tooSlow && rejection != .tooManyBytes
        if isWorthReading, await reader.discard() {
            return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: buffer))
        }
        headers[.connection] = "close"
        return Response(status: status, headers: headers, body: hangingUp(after: buffer))
    }

    /// Closes the connection of a client that is gone or broke off, without an answer.
    func hangUp(status: Int) -> Response {
        Response(
            status: HTTPResponse.Status(code: status), headers: [.connection: "close"],
            body: hangingUp(after: ByteBuffer()))
    }

    /// Throwing from the body is the server's way to close the connection once the body is written.
    private func hangingUp(after buffer: ByteBuffer) -> ResponseBody {
        ResponseBody(contentLength: buffer.readableBytes) { writer in
            try await writer.write(buffer)
            try await writer.finish(nil)
            throw HungUp()
        }
    }
}

private struct HungUp: Error {}
