import Contracts
import Foundation
import Pipeline
import Records
import Testing

@testable import Chassis
@testable import Recovery

@Suite struct PublishTracingTests {
    static func record(_ headers: [WireHeader]) -> Batch.Record {
        Batch.Record(
            wire: WireRecord(value: [], headers: headers),
            position: LogPosition(topic: "t", partition: 0, offset: 0), timestamp: nil)
    }

    @Test func `PublishTracing continues the trace of the record that caused the notification`() throws {
        let parent = TraceContext(trace: (1, 2), span: 3, isSampled: true)
        let tracer = Tracer(isOn: true, random: { 7 })
        let tracing = PublishTracing(tracer: tracer, now: { History.now })
        let record = Self.record([WireHeader(Headers.traceparent, parent.traceparent)])
        let header = try #require(TraceContext(tracing.traceparent(below: record)))
        #expect(header.trace == parent.trace)
        #expect(header.span == 7)
        let spans = tracer.take(10).spans
        #expect(spans.map(\.context) == [header])
        #expect(spans.map(\.parent) == [3])
        #expect(spans.map(\.kind) == [.producer])
    }

    @Test func `PublishTracing starts a trace without one, and records nothing without a collector`() throws {
        let tracer = Tracer(isOn: false, random: { 7 })
        let tracing = PublishTracing(tracer: tracer, now: { History.now })
        let header = try #require(TraceContext(tracing.traceparent(below: Self.record([]))))
        #expect(header.trace == (7, 7))
        #expect(!header.isSampled)
        #expect(tracer.take(10).spans.isEmpty)
    }
}
