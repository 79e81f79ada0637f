import Foundation
import Hummingbird
import Metrics

/// `/livez`, `/readyz` and `/metrics` on a port of their own, so that no load balancer exposes them.
struct AdminServer: Service {
    let address: ListenAddress
    let health: Health
    let registry: MetricRegistry
    let logger: Logger
    /// Called with the port when connections are accepted.
    let onListening: @Sendable (Int) -> Void

    func run() async throws {
        let listener = HTTPListener(
            address: address, variable: "STOREKEEPER_ADMIN_ADDRESS", purpose: "the admin server cannot listen on",
            announcement: "Admin server listens for health checks and metrics", logger: logger, onListening: onListening
        )
        try await listener.run(router.buildResponder())
    }

    private var router: Router<BasicRequestContext> {
        let router = Router()
        router.get("livez") { [health] _, _ in Self.answer(health.hung, ok: "alive") }
        router.get("readyz") { [health] _, _ in Self.answer(health.notReady, ok: "ready") }
        router.get("metrics") { [health, registry] _, _ in
            // At the scrape, so that it agrees with /readyz.
            Gauge(label: Metric.ready.name, dimensions: [], factory: registry).record(health.notReady.isEmpty ? 1 : 0)
            return Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: .init(byteBuffer: ByteBuffer(string: registry.exposition() + ProcessStatistics.exposition())))
        }
        return router
    }

    /// 200 without problems, else 503 with one problem per line.
    private static func answer(_ complaints: [String], ok: String) -> Response {
        let text = complaints.isEmpty ? ok : complaints.joined(separator: "\n")
        return Response(
            status: complaints.isEmpty ? .ok : .serviceUnavailable,
            headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(string: text + "\n")))
    }
}
