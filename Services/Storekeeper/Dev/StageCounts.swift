/// What a stage has done so far, over all its instances and their restarts.
struct StageCounts: Sendable, Equatable {
    var handled = 0.0
    /// Repeats and what else needs no further work.
    var discarded = 0.0
    /// Dead letters, or bad requests.
    var refused = 0.0

    static func + (left: StageCounts, right: StageCounts) -> StageCounts {
        StageCounts(
            handled: left.handled + right.handled, discarded: left.discarded + right.discarded,
            refused: left.refused + right.refused)
    }

    init(handled: Double = 0, discarded: Double = 0, refused: Double = 0) {
        self.handled = handled
        self.discarded = discarded
        self.refused = refused
    }

    /// What one process says of itself.
    init(_ page: MetricsPage, of role: ServiceKind) {
        if role == .ingest {
            let requests = MetricsPage.ingestRequests
            handled = page.sum(requests)
            refused = handled - page.sum(requests, ["code": "200"])
        } else {
            let records = MetricsPage.stageRecords
            handled = page.sum(records)
            discarded = page.sum(records, ["outcome": "discarded"])
            refused = page.sum(records, ["outcome": "dead_letter"])
        }
    }

    /// Adds up over restarts: a process that starts again counts from zero.
    struct Total: Sendable {
        private var ended: [ServiceKind: StageCounts] = [:]
        private var current: [String: (process: Int32, role: ServiceKind, counts: StageCounts)] = [:]

        /// Takes note of what a process says.
        mutating func note(_ counts: StageCounts, of name: String, _ role: ServiceKind, process: Int32) {
            if let known = current[name], known.process != process {
                ended[role] = (ended[role] ?? StageCounts()) + known.counts
            }
            current[name] = (process, role, counts)
        }

        /// The sums.
        var counts: [ServiceKind: StageCounts] {
            current.values.reduce(into: ended) { $0[$1.role] = ($0[$1.role] ?? StageCounts()) + $1.counts }
        }
    }
}
