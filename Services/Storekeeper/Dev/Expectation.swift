import Contracts

/// What must have arrived once the simulator has sent everything. Pure.
struct Expectation: Sendable {
    let book: RunRecord
    /// The number of the newest look at the backlog when the simulator had ended.
    let lookNumber: Int

    private let genuine: Int
    private let forged: Set<String>

    init(book: RunRecord, lookNumber: Int) {
        self.book = book
        self.lookNumber = lookNumber
        let certain = book.notifications.filter { book.arrival(of: $0.uuid) == .certain }
        genuine = certain.count { $0.expectedRejection == nil }
        forged = Set(certain.filter { $0.expectedRejection != nil }.map(\.uuid))
    }

    /// Whether all that must be there is there and nothing is on its way any more.
    ///
    /// - Parameters:
    ///   - stored: rows of the ledger that the run added.
    ///   - refused: uuids in the dead letters.
    func isMet(stored: Int, refused: Set<String>, backlog: Backlog.Measurement?) -> Bool {
        // The next look after the last one seen may have begun before the simulator's end.
        guard let backlog, backlog.number >= lookNumber + 2, backlog.isSettled else { return false }
        return stored >= genuine && forged.isSubset(of: refused)
    }
}

/// Notices when nothing moves any more.
struct Progress: Sendable {
    private let limit: Duration
    private var last: (mark: [Int64], at: ContinuousClock.Instant)?

    init(limit: Duration) { self.limit = limit }

    /// Whether the mark has been the same for longer than the limit.
    mutating func stands(at instant: ContinuousClock.Instant, _ mark: [Int64]) -> Bool {
        guard let last, last.mark == mark else {
            self.last = (mark, instant)
            return false
        }
        return instant - last.at > limit
    }
}
