import Operations

/// A stage's totals over all its instances and their restarts.
struct StageCounts: Sendable, Equatable {
    var handled = 0.0
    /// Duplicates and other records without further work.
    var discarded = 0.0
    /// Dead letters, or bad requests.
    var rejected = 0.0

    static func + (left: StageCounts, right: StageCounts) -> StageCounts {
        StageCounts(
            handled: left.handled + right.handled, discarded: left.discarded + right.discarded,
            rejected: left.rejected + right.rejected)
    }

    init(handled: Double = 0, discarded: Double = 0, rejected: Double = 0) {
        self.handled = handled
        self.discarded = discarded
        self.rejected = rejected
    }

    /// The counts of one process.
    init(_ page: MetricsPage, of kind: ServiceKind) {
        if kind == .ingest {
            let requests = MetricsPage.ingestRequests
            handled = page.sum(requests)
            rejected = handled - page.sum(requests, ["code": "200"])
        } else {
            let records = MetricsPage.stageRecords
            handled = page.sum(records)
            discarded = page.sum(records, ["outcome": "discarded"])
            rejected = page.sum(records, ["outcome": "dead_letter"])
        }
    }

    /// Adds up over restarts: a process that starts again counts from zero.
    struct Total: Sendable {
        private var ended: [ServiceKind: StageCounts] = [:]
        private var current: [String: (process: Int32, kind: ServiceKind, counts: StageCounts)] = [:]

        /// Adds the counts of a process.
        mutating func note(_ counts: StageCounts, of name: String, _ kind: ServiceKind, process: Int32) {
            if let known = current[name], known.process != process {
                ended[kind] = (ended[kind] ?? StageCounts()) + known.counts
            }
            current[name] = (process, kind, counts)
        }

        /// The sums.
        var counts: [ServiceKind: StageCounts] {
            current.values.reduce(into: ended) { $0[$1.kind] = ($0[$1.kind] ?? StageCounts()) + $1.counts }
        }
    }
}
