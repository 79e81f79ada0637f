import AsyncHTTPClient
import Foundation
import HTTPLimits
import ServiceLifecycle

/// Exports finished spans to a collector: OTLP over HTTP with binary protocol buffers.
///
/// Tracing must not delay the pipeline: what a collector does not accept in time is counted and dropped.
struct TraceExporter: Service {
    /// Spans per request.
    static let batch = 512

    let tracer: Tracer
    let endpoint: URL
    /// Sent with every request, often credentials for the collector; never logged.
    let headers: [(name: String, value: String)]
    let resource: [(key: String, value: TraceSpan.Value)]
    let logger: Logger
    var clock: any Clock<Duration> = ContinuousClock()
    /// Until the collector's answer must have ended.
    var timeout: Duration = .seconds(5)

    func run() async throws {
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: Self.configuration)
        var isFailing = false
        // Stopped after the services that create spans, so the last turn exports the rest.
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            try? await cancelWhenGracefulShutdown { [clock] in try await clock.sleep(for: .seconds(1)) }
            await exportAll(client, &isFailing)
        }
        try await client.shutdown()
    }

    /// Sends what is there. One failure ends the turn: what could not be sent is lost, the rest waits for the next.
    func exportAll(_ client: HTTPClient, _ isFailing: inout Bool) async {
        while true {
            let (spans, dropped) = tracer.take(Self.batch)
            if dropped > 0 { Metric.spans.counter("dropped").increment(by: dropped) }
            guard !spans.isEmpty else { return }
            do {
                try await export(spans, client)
                Metric.spans.counter("exported").increment(by: spans.count)
                if isFailing { logger.notice("Trace collector available again") }
                isFailing = false
            } catch {
                Metric.spans.counter("dropped").increment(by: spans.count)
                if !isFailing {
                    logger.warning(
                        "Trace collector unavailable; dropping spans",
                        metadata: ["endpoint": "\(endpoint.shown)", "error": "\(error)"])
                }
                isFailing = true
                return
            }
        }
    }

    private func export(_ spans: [TraceSpan], _ client: HTTPClient) async throws {
        var request = HTTPClientRequest(url: endpoint.absoluteString)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-protobuf")
        for header in headers { request.headers.add(name: header.name, value: header.value) }
        request.body = .bytes(TraceRequest(resource: resource, spans: spans).bytes)
        let (message, timeout) = (request, self.timeout)
        try await withTimeLimit(timeout) {
            let response = try await client.execute(message, timeout: .nanoseconds(Int64(timeout / .nanoseconds(1))))
            guard (200..<300).contains(response.status.code) else {
                throw CollectorRejected(status: response.status.code)
            }
            // Read to its end, or the connection could not be used again.
            for try await _ in response.body {}
        }
    }

    private static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        // The headers are for this collector and no address that it redirects to.
        configuration.redirectConfiguration = .disallow
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }
}

/// The collector answered without success.
struct CollectorRejected: Error, CustomStringConvertible {
    let status: UInt

    var description: String { "the collector answered \(status); is its address right, and its header file?" }
}

extension URL {
    /// Without possible secrets.
    fileprivate var shown: String { "\(scheme ?? "")://\(host ?? "")\(port.map { ":\($0)" } ?? "")\(path)" }
}
