import Hummingbird
import ServiceLifecycle

extension HTTPResponder where Context == BasicRequestContext {
    /// Serves on a free port of 127.0.0.1 while the body runs, and completes the answers in progress then.
    ///
    /// Cancelling the caller cancels the body alone: NIO ends the process where a server is cancelled while it accepts a
    /// connection (https://github.com/apple/swift-nio/issues/2813).
    /// - Parameter body: gets the port; called once connections are accepted.
    /// - Throws: what the body throws, and why the server does not listen.
    public func serving<Outcome: Sendable>(
        logger: Logger, _ body: (Int) async throws -> Outcome
    ) async throws -> Outcome {
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            responder: self, configuration: .init(address: .hostname("127.0.0.1", port: 0), serverName: nil),
            onServerRunning: { channel in found.yield(channel.localAddress?.port ?? 0) }, logger: logger)
        var configuration = ServiceGroupConfiguration(services: [application], logger: logger)
        // For answers that never end.
        configuration.maximumGracefulShutdownDuration = .seconds(2)
        let services = ServiceGroup(configuration: configuration)
        // No child of the caller's task, so that it is not cancelled with it.
        let server = Task {
            defer { found.finish() }
            try await services.run()
        }
        let port = await ports.first { _ in true }
        var outcome: Result<Outcome, any Error> = .failure(CancellationError())
        if let port {
            do { outcome = .success(try await body(port)) } catch { outcome = .failure(error) }
        }
        await services.triggerGracefulShutdown()
        let end = await server.result
        if port == nil, !Task.isCancelled { try end.get() }
        return try outcome.get()
    }
}

extension Router where Context == BasicRequestContext {
    /// Serves the routes, as a responder does.
    public func serving<Outcome: Sendable>(
        logger: Logger, _ body: (Int) async throws -> Outcome
    ) async throws -> Outcome {
        try await buildResponder().serving(logger: logger, body)
    }
}
