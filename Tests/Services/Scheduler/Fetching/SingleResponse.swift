import Chassis
import Hummingbird

/// A server in Apple's place that has one answer to everything.
enum SingleResponse {
    /// - Parameter body: given its address; it answers while this runs.
    static func serve(_ answer: String, _ body: @Sendable (String) async throws -> Void) async throws {
        let responder = CallbackResponder<BasicRequestContext> { request, _ in
            _ = try await request.body.collect(upTo: 1 << 20)
            return Response(
                status: .ok, headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(string: answer)))
        }
        try await responder.serving(logger: SchedulerFixture.logger) { port in
            try await body("http://127.0.0.1:\(port)")
        }
    }
}
