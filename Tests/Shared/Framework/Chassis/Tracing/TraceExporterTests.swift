import AsyncHTTPClient
import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import Chassis

@Suite(.hangLimit) struct TraceExporterTests {
    private static let spans = [TraceSpan](
        repeating: TraceSpan.example(TraceContext(trace: (1, 2), span: 3, isSampled: true)),
        count: TraceExporter.batch + 1)

    @Test func `TraceExporter sends spans in batches, with the configured headers`() async throws {
        let collector = try await Collector()
        let tracer = Tracer(isOn: true, random: { 5 })
        tracer.finished(Self.spans)
        try await collector.whileRunning { exporter in
            var isFailing = false
            await exporter(tracer).exportAll(collector.client, &isFailing)
            #expect(!isFailing)
        }
        let requests = collector.requests
        #expect(requests.count == 2)
        #expect(requests.allSatisfy { $0.path == "/v1/traces" && $0.type == "application/x-protobuf" })
        #expect(requests.allSatisfy { $0.key == "secret" })
        #expect(
            requests.map(\.bytes)
                == [TraceExporter.batch, 1].map {
                    TraceRequest(resource: [("service.name", .text("test"))], spans: Array(Self.spans.prefix($0))).bytes
                        .count
                })
    }

    @Test func `TraceExporter drops what the collector rejects and keeps the rest for the next turn`() async throws {
        let collector = try await Collector(status: .serviceUnavailable)
        let tracer = Tracer(isOn: true, random: { 5 })
        tracer.finished(Self.spans)
        try await collector.whileRunning { exporter in
            var isFailing = false
            await exporter(tracer).exportAll(collector.client, &isFailing)
            #expect(isFailing)
            #expect(tracer.take(.max).spans.count == 1)
        }
    }

    @Test func `TraceExporter gives up an answer that begins and never ends`() async throws {
        let server = try StallingServer()
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        let tracer = Tracer(isOn: true, random: { 5 })
        tracer.finished(Self.spans)
        let endpoint = try #require(URL(string: "http://127.0.0.1:\(server.port)/v1/traces"))
        let exporter = TraceExporter(
            tracer: tracer, endpoint: endpoint, headers: [], resource: [("service.name", .text("test"))],
            logger: Collector.silent, timeout: .milliseconds(200))
        var isFailing = false
        await exporter.exportAll(client, &isFailing)
        #expect(isFailing)
        #expect(tracer.take(.max).spans.count == 1)
        try await client.shutdown()
        withExtendedLifetime(server) {}
    }

    @Test func `TraceExporter sends the last spans before the process ends`() async throws {
        let collector = try await Collector()
        let tracer = Tracer(isOn: true, random: { 5 })
        try await collector.whileRunning { exporter in
            try await whileRunning([exporter(tracer), Last(tracer: tracer)]) {}
        }
        #expect(collector.requests.count == 1)
    }

    /// Finishes a span while it is being stopped.
    private struct Last: Service {
        let tracer: Tracer

        func run() async throws {
            try? await gracefulShutdown()
            tracer.finished([spans[0]])
        }
    }
}

/// An OTLP collector on a free port.
private final class Collector: Sendable {
    struct Received: Sendable {
        var path: String
        var type: String?
        var key: String?
        var bytes: Int
    }

    static var silent: Logger {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return logger
    }

    let client = HTTPClient(eventLoopGroupProvider: .singleton)
    private let status: HTTPResponse.Status
    private let received = Mutex<[Received]>([])

    init(status: HTTPResponse.Status = .ok) async throws { self.status = status }

    var requests: [Received] { received.withLock { $0 } }

    func whileRunning(_ body: (@Sendable (Tracer) -> TraceExporter) async throws -> Void) async throws {
        let responder = CallbackResponder<BasicRequestContext> { [self] request, _ in
            let body = try await request.body.collect(upTo: 10 << 20)
            let entry = Received(
                path: request.uri.path, type: request.headers[.contentType],
                key: HTTPFields.Element.Name("x-key").flatMap { request.headers[$0] }, bytes: body.readableBytes)
            received.withLock { $0.append(entry) }
            return Response(status: status)
        }
        try await responder.serving(logger: Self.silent) { port in
            let endpoint = try #require(URL(string: "http://127.0.0.1:\(port)/v1/traces"))
            try await body { tracer in
                TraceExporter(
                    tracer: tracer, endpoint: endpoint, headers: [("x-key", "secret")],
                    resource: [("service.name", .text("test"))], logger: Self.silent)
            }
            try await client.shutdown()
        }
    }
}
