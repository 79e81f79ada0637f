import Chassis
import Hummingbird

/// The HTTP server that browsers talk to.
struct ConsoleServer: Service {
    let address: ListenAddress
    let responder: Responder
    let logger: Logger
    /// Told the port when connections are accepted.
    let onListening: @Sendable (Int) -> Void

    func run() async throws {
        let listener = HTTPListener(
            address: address, variable: "STOREKEEPER_CONSOLE_ADDRESS", purpose: "browsers cannot connect to",
            announcement: "Serving the console", logger: logger, onListening: onListening)
        let responder = responder
        try await listener.run(
            CallbackResponder<PeerContext> { request, context in
                let answer = await responder.answer(request, peer: context.peer)
                return answer.body.response(status: answer.status, headers: answer.headers, to: request)
            },
            server: .http1(configuration: .init(idleTimeout: .seconds(120))), maximumConnections: 512)
    }
}

/// Knows the other end of the connection.
struct PeerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let peer: String?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        peer = source.channel.remoteAddress?.ipAddress
    }
}
