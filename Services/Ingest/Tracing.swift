import Chassis
import Contracts
import Hummingbird

import struct Foundation.Date

/// Where a notification's trace begins: at the request that brought it.
struct Tracing: Sendable {
    let tracer: Tracer

    /// The step of a request: below the sender's, where one was named.
    func step(of request: Request) -> (own: TraceContext, parent: TraceContext?) {
        let named = HTTPFields.Element.Name(Headers.traceparent).flatMap { request.headers[$0] }
        let parent = named.flatMap { TraceContext($0) }
        return (tracer.step(below: parent), parent)
    }

    /// The request was answered.
    func finished(
        _ step: (own: TraceContext, parent: TraceContext?), from start: Date, to end: Date, status: Int, path: String
    ) {
        guard step.own.isSampled else { return }
        tracer.finished([
            TraceSpan(
                context: step.own, parent: step.parent?.span, name: "POST \(path)", kind: .server, start: start,
                end: end,
                attributes: [
                    ("http.request.method", .text("POST")), ("url.path", .text(path)),
                    ("http.response.status_code", .number(Int64(status))),
                    ("messaging.destination.name", .text(Topics.received.name)),
                ],
                failure: status >= 500 ? "the log did not take it" : nil)
        ])
    }
}
