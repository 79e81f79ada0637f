import Development
import Foundation
import Testing

@testable import Chassis

/// OpenTelemetry's own Python package reads what is written; `Deploy/oracles` installs it.
@Suite struct TraceRequestTests {
    @Test func `TraceRequest is read by OpenTelemetry as it was meant`() throws {
        let context = try #require(TraceContext("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
        var root = TraceSpan.example(context)
        root.parent = nil
        root.failure = nil
        root.kind = .server
        let request = TraceRequest(
            resource: [("service.name", .text("verifier"))], spans: [TraceSpan.example(context), root])
        let read = try JSONDecoder().decode(Request.self, from: Self.decoded(request.bytes))
        let resource = try #require(read.resourceSpans.first)
        #expect(resource.resource.attributes == [.init(key: "service.name", value: .init(stringValue: "verifier"))])
        let spans = try #require(resource.scopeSpans.first).spans
        let failed = try #require(spans.first)
        #expect(failed.traceId == "0af7651916cd43dd8448eb211c80319c")
        #expect(failed.spanId == "b7ad6b7169203331")
        #expect(failed.parentSpanId == "0102030405060708")
        #expect(failed.name == "process notifications.received")
        #expect(failed.kind == "SPAN_KIND_CONSUMER")
        #expect(failed.startTimeUnixNano == "1700000000500000000")
        #expect(failed.endTimeUnixNano == "1700000001000000000")
        #expect(
            failed.attributes == [
                .init(key: "messaging.system", value: .init(stringValue: "kafka")),
                .init(key: "messaging.kafka.offset", value: .init(intValue: "300")),
                .init(key: "below", value: .init(intValue: "-1")),
            ])
        #expect(failed.status == .init(code: "STATUS_CODE_ERROR", message: "malformed"))
        let first = try #require(spans.last)
        #expect(spans.count == 2)
        #expect(first.parentSpanId == nil)
        #expect(first.kind == "SPAN_KIND_SERVER")
        #expect(first.status == nil)
    }

    /// Through OpenTelemetry's package: binary in, JSON with ids in hex out.
    private static func decoded(_ bytes: [UInt8]) throws -> Data {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../../..").standardized
        let python = root.appending(path: ".build/oracles/bin/python")
        try #require(
            FileManager.default.isExecutableFile(atPath: python.path()),
            "run Deploy/oracles, or Deploy/test, which does")
        let process = Process()
        process.executableURL = python
        process.arguments = [root.appending(path: "Tests/Shared/Framework/Chassis/Tracing/read_traces.py").path()]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.start()
        try input.fileHandleForWriting.write(contentsOf: Data(bytes))
        try input.fileHandleForWriting.close()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return text
    }
}

private struct Request: Decodable {
    struct Value: Decodable, Equatable {
        var stringValue: String?
        var intValue: String?
    }
    struct Attribute: Decodable, Equatable {
        var key: String
        var value: Value
    }
    struct Resource: Decodable {
        var attributes: [Attribute]
    }
    struct Status: Decodable, Equatable {
        var code: String
        var message: String
    }
    struct Span: Decodable {
        var traceId: String
        var spanId: String
        var parentSpanId: String?
        var name: String
        var kind: String
        var startTimeUnixNano: String
        var endTimeUnixNano: String
        var attributes: [Attribute]
        var status: Status?
    }
    struct ScopeSpans: Decodable {
        var spans: [Span]
    }
    struct ResourceSpans: Decodable {
        var resource: Resource
        var scopeSpans: [ScopeSpans]
    }
    var resourceSpans: [ResourceSpans]
}
