import Hummingbird
import HummingbirdCore

/// An HTTP server on one address, for the length of a process.
public struct HTTPListener: Sendable {
    private let address: ListenAddress
    private let variable: String
    private let purpose: String
    private let announcement: Logger.Message
    private let logger: Logger
    private let onListening: @Sendable (Int) -> Void

    /// - Parameters:
    ///   - variable: of the address, for who finds it taken.
    ///   - purpose: the beginning of the sentence that says that the address cannot be used: `requests cannot be received on`.
    ///   - announcement: logged with the port when connections are accepted.
    ///   - onListening: told the port then.
    public init(
        address: ListenAddress, variable: String, purpose: String, announcement: Logger.Message, logger: Logger,
        onListening: @escaping @Sendable (Int) -> Void
    ) {
        self.address = address
        self.variable = variable
        self.purpose = purpose
        self.announcement = announcement
        self.logger = logger
        self.onListening = onListening
    }

    /// Answers until the process is told to stop.
    /// - Parameters:
    ///   - backlog: connections that may wait to be accepted.
    ///   - maximumConnections: open at a time; nil for any number.
    /// - Throws: `CannotListen`.
    public func run<Responder: HTTPResponder>(
        _ responder: Responder, server: HTTPServerBuilder = .http1(), backlog: Int = 256,
        maximumConnections: Int? = nil
    ) async throws where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
        // A line for each request is for those who debug the server.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        let application = Application(
            responder: responder, server: server,
            configuration: ApplicationConfiguration(
                address: .hostname(address.host, port: address.port), serverName: nil, backlog: backlog,
                availableConnectionsDelegate: maximumConnections.map { .maximum($0, logger: quiet) }),
            onServerRunning: { [self] channel in
                let port = channel.localAddress?.port ?? address.port
                logger.info(announcement, metadata: ["address": "\(address.host)", "port": "\(port)"])
                onListening(port)
            },
            logger: quiet)
        do {
            try await application.run()
        } catch {
            throw CannotListen(purpose: purpose, address: address, variable: variable, cause: error)
        }
    }
}

/// The address cannot be listened on.
struct CannotListen: Error, CustomStringConvertible {
    let purpose: String
    let address: ListenAddress
    let variable: String
    let cause: any Error

    var description: String { "\(purpose) \(address) (\(cause)); is the port taken? Set \(variable)" }
}
