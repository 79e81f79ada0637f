import Operations

import struct Foundation.Date

/// The data of the live view at one moment.
struct Snapshot: Sendable {
    /// A change of the state.
    struct TimelineRow: Sendable, Equatable {
        var at: Date
        var purchase: String
        var fact: String
        var from: String?
        var to: String?
    }

    /// From webhook to committed state, milliseconds.
    struct Latency: Sendable, Equatable, Codable {
        var p50: Double
        var p95: Double
        var max: Double
    }

    /// Duration of the run so far.
    var elapsed: Duration = .zero
    var stages: [ServiceKind: StageCounts] = [:]
    var backlog: Backlog.Measurement?
    /// Rows of the ledger that this run added.
    var stored: Int64 = 0
    /// Distinct notifications the simulator is to send; nil where it sends until stopped.
    var planned: Int?
    var latency: Latency?
    /// Nil where unknown.
    var recovery: RunReport.Recovery?
    /// Newest first.
    var newest: [TimelineRow] = []
    /// Notices, most urgent first.
    var notices: [String] = []

    /// Changes while notifications make progress. Heartbeats, history pages and requests to Apple continue in a stalled
    /// pipeline.
    func mark(deadLetters: Int) -> [Int64] {
        let pipeline: [ServiceKind] = [.verifier, .deduplicator, .stateUpdater]
        return [stored, Int64(deadLetters)] + pipeline.map { backlog?.waiting[$0] ?? -1 }
            + pipeline.map { Int64(stages[$0]?.handled ?? -1) }
    }
}
