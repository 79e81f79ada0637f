import Hummingbird
import Logging

/// Tells the simulator how much waits, so that it does not send faster than the development broker can remember.
struct PaceServer: Sendable {
    let backlog: Backlog
    let logger: Logger

    /// Serves `{"waiting": N}` at every path until cancelled; 503 before the first look at the broker.
    /// - Parameter onPort: called with the port that the system chose.
    func run(onPort: @escaping @Sendable (Int) -> Void) async throws {
        let router = Router()
        router.get("backlog") { [backlog] _, _ in
            guard let look = backlog.look else { return Response(status: .serviceUnavailable) }
            return Response(
                status: .ok, headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(string: #"{"waiting": \#(look.pressure)}"#)))
        }
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0), serverName: nil),
            onServerRunning: { channel in onPort(channel.localAddress?.port ?? 0) },
            logger: logger)
        try await application.run()
    }
}
