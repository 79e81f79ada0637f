import Chassis
import Contracts
import Pipeline

import struct Foundation.Date

/// Starts the trace of a published notification: as a child of the record that caused it, or as a new root.
struct PublishTracing: Sendable {
    let tracer: Tracer
    let now: @Sendable () -> Date

    /// The traceparent header of a notification.
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
