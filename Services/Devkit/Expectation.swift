import Contracts

/// What must arrive once the simulator has sent everything. Pure.
struct Expectation: Sendable {
    let record: RunRecord
    /// The number of the newest measurement when the simulator had ended.
    let measurementNumber: Int

    private let genuine: Int
    private let forged: Set<String>

    init(record: RunRecord, measurementNumber: Int) {
        self.record = record
        self.measurementNumber = measurementNumber
        let certain = record.notifications.filter { record.arrival(of: $0.uuid) == .certain }
        genuine = certain.count { $0.expectedRejection == nil }
        forged = Set(certain.filter { $0.expectedRejection != nil }.map(\.uuid))
    }

    /// Whether everything expected has arrived and there is no lag.
    ///
    /// - Parameters:
    ///   - stored: rows that the run added to the ledger.
    ///   - rejected: uuids of dead letters.
    func isMet(stored: Int, rejected: Set<String>, backlog: Backlog.Measurement?) -> Bool {
        // The measurement after the last one may have begun before the simulator's end.
        guard let backlog, backlog.number >= measurementNumber + 2, backlog.isSettled else { return false }
        return stored >= genuine && forged.isSubset(of: rejected)
    }
}

/// Detects a lack of progress.
struct Progress: Sendable {
    private let limit: Duration
    private var last: (mark: [Int64], at: ContinuousClock.Instant)?

    init(limit: Duration) { self.limit = limit }

    /// Whether the value has been the same for longer than the limit.
    mutating func stands(at instant: ContinuousClock.Instant, _ mark: [Int64]) -> Bool {
        guard let last, last.mark == mark else {
            self.last = (mark, instant)
            return false
        }
        return instant - last.at > limit
    }
}
