import Chassis
import Contracts

import struct Foundation.Date

/// What a record's way through a stage looks like from outside: a line of the log and a step of its trace.
struct RecordSteps {
    let stage: String
    let record: Batch.Record
    let outcome: Outcome

    private var parent: TraceContext? { record.trace }

    /// By which the lines of one notification are found. What is not verified yet has no uuid that could be trusted.
    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [
            "topic": "\(record.position.topic)", "partition": "\(record.position.partition)",
            "offset": "\(record.position.offset)",
        ]
        if let uuid = record.wire.header(Headers.cloudEventsId) { metadata["notification_uuid"] = "\(uuid)" }
        if let parent { metadata["trace_id"] = "\(parent.traceId)" }
        if !outcome.reason.isEmpty { metadata["reason"] = "\(outcome.reason)" }
        return metadata
    }

    /// The step below whoever put the record on the log; nil where the trace is not recorded. All records of a batch took
    /// as long as the batch.
    func span(_ tracer: Tracer, end: Date, duration: Duration) -> TraceSpan? {
        guard let parent else { return nil }
        let context = tracer.step(below: parent)
        guard context.isSampled else { return nil }
        var attributes: [(key: String, value: TraceSpan.Value)] = [
            ("messaging.system", .text("kafka")), ("messaging.operation.type", .text("process")),
            ("messaging.destination.name", .text(record.position.topic)),
            ("messaging.destination.partition.id", .text(String(record.position.partition))),
            ("messaging.kafka.offset", .number(record.position.offset)), ("storekeeper.outcome", .text(outcome.name)),
        ]
        if let uuid = record.wire.header(Headers.cloudEventsId) {
            attributes.append(("storekeeper.notification_uuid", .text(uuid)))
        }
        if !outcome.reason.isEmpty { attributes.append(("storekeeper.reason", .text(outcome.reason))) }
        return TraceSpan(
            context: context, parent: parent.span, name: "process \(record.position.topic)", kind: .consumer,
            start: end.addingTimeInterval(-(duration / .seconds(1))), end: end, attributes: attributes,
            failure: outcome.name == Outcome.deadLetter ? outcome.reason : nil)
    }
}

extension Batch.Record {
    /// The step that put the record on the log; nil where it belongs to no trace.
    public var trace: TraceContext? { wire.header(Headers.traceparent).flatMap { TraceContext($0) } }
}
