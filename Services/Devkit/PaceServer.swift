import Chassis
import Hummingbird
import Logging

/// Serves the lag to the simulator, so that it does not send faster than the embedded broker can buffer.
struct PaceServer: Sendable {
    let backlog: Backlog
    let logger: Logger

    /// Serves `{"waiting": N}` at every path until cancelled; 503 before the first measurement.
    /// - Parameter onPort: called with the port.
    func run(onPort: @escaping @Sendable (Int) -> Void) async throws {
        let router = Router()
        router.get("backlog") { [backlog] _, _ in
            guard let measurement = backlog.measurement else { return Response(status: .serviceUnavailable) }
            return Response(
                status: .ok, headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(string: #"{"waiting": \#(measurement.pressure)}"#)))
        }
        try await router.serving(logger: logger) { port in
            onPort(port)
            try await gracefulShutdown()
        }
    }
}
