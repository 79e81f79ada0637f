import Chassis
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import NIOCore

/// The HTTP server that app backends ask.
struct APIServer: Service {
    let address: ListenAddress
    let idleTimeout: Duration
    let connections: ConnectionTable
    let service: APIService
    /// Nil where a proxy ends TLS.
    var certificate: ServerCertificate?
    let logger: Logger
    /// Told the port when connections are accepted.
    let onListening: @Sendable (Int) -> Void

    func run() async throws {
        let (service, connections) = (service, connections)
        let listener = HTTPListener(
            address: address, variable: "STOREKEEPER_API_ADDRESS", purpose: "requests cannot be received on",
            announcement: "Answering requests", logger: logger, onListening: onListening)
        async let sweeping: Void = connections.sweepAlways()
        try await listener.run(
            CallbackResponder<ConnectionContext> { request, context in
                let channel = context.channel
                connections.begins(channel)
                let answer = await service.answer(request) { connections.isKnown(channel) }
                let body = connections.ends(channel, with: answer.body)
                return body.response(status: answer.status, headers: answer.headers, to: request)
            },
            connection: .init(
                additionalChannelHandlers: [ConnectionObserver(connections)],
                idleTimeout: .nanoseconds(Int64(idleTimeout / .nanoseconds(1)))),
            backlog: 1024, maximumConnections: connections.accepted,
            securing: { plain in
                try certificate.map { try .tls(plain, tlsConfiguration: $0.configuration) } ?? plain
            })
        await sweeping
    }
}

/// What is known of the connection of a request.
private struct ConnectionContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
