import Chassis
import Records

import struct Foundation.Date

/// A record's way through a stage: a log line and a span of its trace.
struct RecordSteps {
    let stage: String
    let record: Batch.Record
    let outcome: Outcome

    private var parent: TraceContext? { record.trace }

    /// The ids in the log lines of a notification. Before verification there is no uuid that could be trusted.
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

    /// A span below that of the record's producer; nil where the trace is not recorded. All records of a batch take
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
    /// The span of the record's producer; nil without a trace.
    public var trace: TraceContext? { wire.header(Headers.traceparent).flatMap { TraceContext($0) } }
}
