import Chassis
import Contracts

import struct Foundation.Date

/// The first span of a notification's trace: the request.
struct RequestTracing: Sendable {
    let tracer: Tracer

    /// A trace of its own, whatever the request names: otherwise a client could choose which traces are recorded.
    /// what is recorded.
    func begin() -> TraceContext { tracer.step(below: nil) }

    /// The request was answered.
    func finished(
        _ step: TraceContext, from start: Date, to end: Date, status: Int, path: String
    ) {
        guard step.isSampled else { return }
        tracer.finished([
            TraceSpan(
                context: step, parent: nil, name: "POST \(path)", kind: .server, start: start,
                end: end,
                attributes: [
                    ("http.request.method", .text("POST")), ("url.path", .text(path)),
                    ("http.response.status_code", .number(Int64(status))),
                    ("messaging.destination.name", .text(Topics.received.name)),
                ],
                failure: status >= 500 ? "Kafka unavailable" : nil)
        ])
    }
}
