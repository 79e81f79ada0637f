import Hummingbird
import Logging
import ServiceLifecycle

/// A server in Apple's place that has one answer to everything.
enum SingleResponse {
    /// - Parameter body: given its address; it answers while this runs.
    static func serve(_ answer: String, _ body: @Sendable (String) async throws -> Void) async throws {
        let (ports, bound) = AsyncStream<Int>.makeStream()
        let application = Application(
            responder: CallbackResponder<BasicRequestContext> { request, _ in
                _ = try await request.body.collect(upTo: 1 << 20)
                return Response(
                    status: .ok, headers: [.contentType: "application/json"],
                    body: .init(byteBuffer: ByteBuffer(string: answer)))
            },
            configuration: .init(address: .hostname("127.0.0.1", port: 0), serverName: nil),
            onServerRunning: { channel in
                bound.yield(channel.localAddress?.port ?? 0)
                bound.finish()
            }, logger: SchedulerFixture.logger)
        let services = ServiceGroup(
            configuration: .init(services: [.init(service: application)], logger: SchedulerFixture.logger))
        async let running: Void = services.run()
        var result: Result<Void, any Error> = .success(())
        for await port in ports {
            do { try await body("http://127.0.0.1:\(port)") } catch { result = .failure(error) }
        }
        await services.triggerGracefulShutdown()
        try await running
        try result.get()
    }
}
