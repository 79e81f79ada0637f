import CoreMetrics
import Foundation
import TestSupport
import Testing

@testable import Chassis

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.hangLimit) struct AdminServerTests {
    private let clock = ManualClock()

    /// Runs a server on a free port while `body` runs.
    private func withServer(
        _ health: Health, _ registry: MetricRegistry = MetricRegistry(metrics: []),
        body: (URL) async throws -> Void
    ) async throws {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let (ports, signal) = AsyncStream.makeStream(of: Int.self)
        let server = AdminServer(
            address: ListenAddress(host: "127.0.0.1", port: 0), health: health, registry: registry, logger: logger,
            onListening: { signal.yield($0) })
        try await whileRunning([server], logger: logger) {
            let port = try #require(await ports.first { _ in true })
            try await body(try #require(URL(string: "http://127.0.0.1:\(port)")))
        }
    }

    private func get(_ url: URL) async throws -> (status: Int, type: String?, body: String) {
        let (data, response) = try await URLSession.shared.data(from: url)
        let http = try #require(response as? HTTPURLResponse)
        return (http.statusCode, http.value(forHTTPHeaderField: "Content-Type"), String(decoding: data, as: UTF8.self))
    }

    @Test func `AdminServer answers readyz by the checks and names those that are not met`() async throws {
        let health = Health(instant: { [clock] in clock.instant })
        let kafka = health.readinessCheck("kafka")
        try await withServer(health) { url in
            var answer = try await get(url.appending(path: "readyz"))
            #expect(answer.status == 503)
            #expect(answer.body == "kafka: waiting for the first connection\n")
            kafka.passes()
            answer = try await get(url.appending(path: "readyz"))
            #expect(answer.status == 200)
            #expect(answer.body == "ready\n")
            health.drain()
            answer = try await get(url.appending(path: "readyz"))
            #expect(answer.status == 503)
            #expect(answer.body.hasPrefix("draining"))
        }
    }

    @Test func `AdminServer answers livez by the loops and nothing else`() async throws {
        let health = Health(instant: { [clock] in clock.instant })
        let liveness = health.livenessProbe("loop", limit: .seconds(5))
        _ = health.readinessCheck("database")
        try await withServer(health) { url in
            var answer = try await get(url.appending(path: "livez"))
            #expect(answer.status == 200)
            clock.advance(by: .seconds(6))
            answer = try await get(url.appending(path: "livez"))
            #expect(answer.status == 503)
            #expect(answer.body == "loop made no progress for 6 s, more than its limit of 5 s\n")
            liveness.beat()
            answer = try await get(url.appending(path: "livez"))
            #expect(answer.status == 200)
        }
    }

    @Test func `AdminServer exposes metrics in the text format, the process's own among them`() async throws {
        let registry = MetricRegistry(metrics: Metric.all)
        Counter(label: "storekeeper_ingest_requests_total", dimensions: [("code", "200")], factory: registry)
            .increment()
        try await withServer(Health(instant: { [clock] in clock.instant }), registry) { url in
            let answer = try await get(url.appending(path: "metrics"))
            #expect(answer.status == 200)
            #expect(answer.type == "text/plain; version=0.0.4; charset=utf-8")
            let exposition = try ExpositionGrammar(answer.body)
            #expect(exposition.value("storekeeper_ingest_requests_total", ["code": "200"]) == "1")
            for name in [
                "process_cpu_seconds_total", "process_resident_memory_bytes", "process_start_time_seconds",
                "process_open_fds",
            ] {
                #expect(try #require(exposition.value(name).flatMap(Double.init)) > 0, "\(name)")
            }
        }
    }

    @Test func `AdminServer exposes readiness as a metric, as of the moment of the scrape`() async throws {
        let health = Health(instant: { [clock] in clock.instant })
        let kafka = health.readinessCheck("kafka")
        try await withServer(health, MetricRegistry(metrics: Metric.all)) { url in
            func ready() async throws -> String? {
                try ExpositionGrammar(await get(url.appending(path: "metrics")).body).value("storekeeper_ready")
            }
            var said = try await ready()
            #expect(said == "0")
            kafka.passes()
            said = try await ready()
            #expect(said == "1")
            health.drain()
            said = try await ready()
            #expect(said == "0")
        }
    }

    @Test func `AdminServer answers 404 to any other path`() async throws {
        try await withServer(Health(instant: { [clock] in clock.instant })) { url in
            let answer = try await get(url.appending(path: "secrets"))
            #expect(answer.status == 404)
        }
    }

    @Test func `AdminServer names the variable of a port in use`() async throws {
        try await withServer(Health(instant: { [clock] in clock.instant })) { url in
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            let second = AdminServer(
                address: ListenAddress(host: "127.0.0.1", port: try #require(url.port)),
                health: Health(instant: { [clock] in clock.instant }), registry: MetricRegistry(metrics: []),
                logger: logger,
                onListening: { _ in })
            await #expect {
                try await second.run()
            } throws: {
                "\($0)".contains("STOREKEEPER_ADMIN_ADDRESS")
            }
        }
    }
}
