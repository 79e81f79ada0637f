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
    ///   - variable: of the address, for the message when it is in use.
    ///   - purpose: the beginning of that message: `requests cannot be received on`.
    ///   - announcement: logged with the port when connections are accepted.
    ///   - onListening: called with the port then.
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

    /// Serves until the process stops.
    /// - Parameters:
    ///   - connection: handlers and idle timeout of each connection.
    ///   - longestHead: bytes of the head of a request, which no budget of a service counts: every connection may hold one. The
    ///     largest field of our own, `Storekeeper-Read-After`, has 5.5 kB.
    ///   - backlog: maximum number of connections that wait to be accepted.
    ///   - maximumConnections: maximum number of open connections; nil is unlimited.
    ///   - securing: puts TLS before the server, where no proxy ends it.
    /// - Throws: `CannotListen`.
    public func run<Responder: HTTPResponder>(
        _ responder: Responder, connection: HTTP1Channel.Configuration = .init(), longestHead: Int = 16 << 10,
        backlog: Int = 256, maximumConnections: Int? = nil,
        securing: (HTTPServerBuilder) throws -> HTTPServerBuilder = { $0 }
    ) async throws where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
        // A line for each request is for debugging the server.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        var connection = connection
        connection.httpDecoder = .init(
            maxHeaderFieldSize: longestHead, maxHeaderListSize: longestHead, maxHeaderFieldCount: 100)
        let application = Application(
            responder: responder, server: try securing(.http1(configuration: connection)),
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

/// The address cannot be used.
struct CannotListen: Error, CustomStringConvertible {
    let purpose: String
    let address: ListenAddress
    let variable: String
    let cause: any Error

    var description: String { "\(purpose) \(address) (\(cause)); is the port taken? Set \(variable)" }
}
