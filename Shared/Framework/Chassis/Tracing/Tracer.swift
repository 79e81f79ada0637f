import Synchronization

import struct Foundation.Date

/// Creates the spans of traces and keeps finished ones until they are exported. Off unless an endpoint is set;
/// ids are created either way, so that logs and dead letters of one notification can be joined.
public final class Tracer: Sendable {
    /// Maximum number of kept spans. Tracing never delays the pipeline: what finds no room is counted and dropped.
    static let room = 8192

    private struct State {
        var finished: [TraceSpan] = []
        var dropped = 0
    }

    /// Whether finished spans are exported.
    public let isOn: Bool
    private let ratio: Double
    private let random: @Sendable () -> UInt64
    private let state = Mutex(State())

    /// - Parameters:
    ///   - ratio: the share of traces that is recorded, 0 to 1; decided by the trace's id, whatever a client's header
    ///     asks for, and the same in every process.
    ///   - random: a source of ids.
    public init(isOn: Bool, ratio: Double = 1, random: @escaping @Sendable () -> UInt64) {
        self.isOn = isOn
        self.ratio = ratio
        self.random = random
    }

    /// The place of a span that begins here: below its cause, or the root of a trace of its own. Where tracing is
    /// off, the cause's own place, so that the spans of recording processes stay connected.
    public func step(below parent: TraceContext?) -> TraceContext {
        if !isOn, let parent { return parent }
        let trace = parent?.trace ?? (high: id(), low: id())
        // The low half is random by the standard; compared as a share of all its values.
        let isSampled = isOn && (ratio >= 1 || Double(trace.low) < ratio * 0x1p64)
        return TraceContext(trace: trace, span: id(), isSampled: isSampled)
    }

    /// Keeps finished spans for the exporter.
    public func finished(_ spans: [TraceSpan]) {
        guard isOn, !spans.isEmpty else { return }
        state.withLock { state in
            let accepted = spans.prefix(Self.room - state.finished.count)
            state.finished += accepted
            state.dropped += spans.count - accepted.count
        }
    }

    /// The oldest finished spans, and how many found no room since the last call.
    func take(_ limit: Int) -> (spans: [TraceSpan], dropped: Int) {
        state.withLock { state in
            let spans = Array(state.finished.prefix(limit))
            state.finished.removeFirst(spans.count)
            defer { state.dropped = 0 }
            return (spans, state.dropped)
        }
    }

    private func id() -> UInt64 {
        while true {
            let id = random()
            if id != 0 { return id }
        }
    }
}
