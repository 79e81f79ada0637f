import Foundation
import Synchronization
import Testing

@testable import Chassis

@Suite struct TracerTests {
    private static let parent = TraceContext("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00")

    @Test func `Tracer creates a span below its cause, in the same trace`() throws {
        let parent = try #require(Self.parent)
        let step = Tracer(isOn: true, random: { 5 }).step(below: parent)
        #expect(step.traceId == parent.traceId)
        #expect(step.span == 5)
        #expect(step.isSampled)
    }

    @Test func `Tracer begins a trace without a cause, and no id is zero`() {
        let numbers = Mutex<[UInt64]>([0, 3, 0, 0, 4, 5])
        let step = Tracer(isOn: true, random: { numbers.withLock { $0.removeFirst() } }).step(below: nil)
        #expect(step.trace == (3, 4))
        #expect(step.span == 5)
    }

    @Test func `Tracer that records nothing keeps the spans of other processes connected`() throws {
        let parent = try #require(Self.parent)
        #expect(Tracer(isOn: false, random: { 5 }).step(below: parent) == parent)
    }

    @Test func `Tracer decides by the trace which share is recorded, not by the sender's header`() throws {
        let eager = try #require(TraceContext("00-0af7651916cd43ddf448eb211c80319c-b7ad6b7169203331-01"))
        let low = try #require(TraceContext("00-0af7651916cd43dd1448eb211c80319c-b7ad6b7169203331-00"))
        let half = Tracer(isOn: true, ratio: 0.5, random: { 5 })
        #expect(!half.step(below: eager).isSampled)
        #expect(half.step(below: low).isSampled)
        #expect(!Tracer(isOn: true, ratio: 0, random: { 5 }).step(below: low).isSampled)
    }

    @Test func `Tracer counts what finds no room and never waits`() throws {
        let tracer = Tracer(isOn: true, random: { 5 })
        let span = TraceSpan.example(try #require(Self.parent))
        tracer.finished([TraceSpan](repeating: span, count: Tracer.room - 1))
        tracer.finished([span, span, span])
        let first = tracer.take(10)
        #expect(first.spans.count == 10)
        #expect(first.dropped == 2)
        #expect(tracer.take(.max) == (first.spans[..<0] + [TraceSpan](repeating: span, count: Tracer.room - 10), 0))
    }

    @Test func `Tracer keeps nothing where traces are not exported`() throws {
        let tracer = Tracer(isOn: false, random: { 5 })
        tracer.finished([TraceSpan.example(try #require(Self.parent))])
        #expect(tracer.take(10).spans.isEmpty)
    }
}

extension TraceSpan {
    /// A failed span with an attribute of each kind.
    static func example(_ context: TraceContext) -> TraceSpan {
        TraceSpan(
            context: context, parent: 0x0102_0304_0506_0708, name: "process notifications.received", kind: .consumer,
            start: Date(timeIntervalSince1970: 1_700_000_000.5), end: Date(timeIntervalSince1970: 1_700_000_001),
            attributes: [
                ("messaging.system", .text("kafka")), ("messaging.kafka.offset", .number(300)), ("below", .number(-1)),
            ],
            failure: "malformed")
    }
}
