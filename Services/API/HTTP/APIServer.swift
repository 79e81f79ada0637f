import Chassis
import Hummingbird
import HummingbirdCore
import HummingbirdTLS

/// The HTTP server that app backends ask.
struct APIServer: Service {
    let address: ListenAddress
    let idleTimeout: Duration
    let maximumConnections: Int
    let service: APIService
    /// Nil where a proxy ends TLS.
    var certificate: ServerCertificate?
    let logger: Logger
    /// Told the port when connections are accepted.
    let onListening: @Sendable (Int) -> Void

    func run() async throws {
        let service = service
        let listener = HTTPListener(
            address: address, variable: "STOREKEEPER_API_ADDRESS", purpose: "requests cannot be received on",
            announcement: "Answering requests", logger: logger, onListening: onListening)
        let plain = HTTPServerBuilder.http1(
            configuration: .init(idleTimeout: .nanoseconds(Int64(idleTimeout / .nanoseconds(1)))))
        try await listener.run(
            CallbackResponder<BasicRequestContext> { request, _ in
                let answer = await service.answer(request)
                return answer.body.response(status: answer.status, headers: answer.headers, to: request)
            },
            server: certificate.map { try .tls(plain, tlsConfiguration: $0.configuration) } ?? plain,
            backlog: 1024, maximumConnections: maximumConnections)
    }
}
