import Chassis
import Contracts
import Pipeline

import struct Foundation.Date

/// Where the trace of a notification begins that is put on the line from here: below the record that brought it about, or
/// at the head.
struct Tracing: Sendable {
    let tracer: Tracer
    let now: @Sendable () -> Date

    /// For the header of one notification.
    func traceparent(below record: Batch.Record) -> String {
        let parent = record.trace
        let step = tracer.step(below: parent)
        if step.isSampled {
            let time = now()
            tracer.finished([
                TraceSpan(
                    context: step, parent: parent?.span, name: "publish \(Topics.received.name)", kind: .producer,
                    start: time, end: time,
                    attributes: [
                        ("messaging.system", .text("kafka")), ("messaging.operation.type", .text("publish")),
                        ("messaging.destination.name", .text(Topics.received.name)),
                        ("storekeeper.source", .text(NotificationSource.history.rawValue)),
                    ])
            ])
        }
        return step.traceparent
    }
}
