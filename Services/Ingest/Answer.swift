import Hummingbird

extension Receiver {
    /// What the head alone forbids; nil if the body is worth reading.
    static func refusal(of head: HTTPRequest, limits: Limits) -> Refusal? {
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

    /// Answers with a status and why. The connection lives on if the rest of the body could be read off it.
    func refuse(_ refusal: Refusal, _ request: Request, _ reader: inout RequestReader) async -> Response {
        tally.refused(refusal)
        logger.debug("Refused", metadata: ["reason": "\(refusal.name)"])
        var headers: HTTPFields = [.contentType: "application/json"]
        if refusal == .method { headers[.allow] = "POST" }
        if refusal.status == 503 { headers[.retryAfter] = "60" }
        let status = HTTPResponse.Status(code: refusal.status)
        // The answer to HEAD has no body; what followed would be taken for the next answer.
        let buffer = request.method == .head ? ByteBuffer() : ByteBuffer(bytes: refusal.json)
        // Who asks before sending has sent nothing yet and is to be spared it; who is slow has had its time.
        let isWorthReading = request.headers[.expect] == nil && refusal != .tooSlow && refusal != .tooManyBytes
        if isWorthReading, await reader.discard() {
            return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: buffer))
        }
        headers[.connection] = "close"
        return Response(status: status, headers: headers, body: hangingUp(after: buffer))
    }

    /// Answers nobody: the client is gone, or broke off.
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
