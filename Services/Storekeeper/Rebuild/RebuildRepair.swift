import Contracts
import Storage
import Subscriptions

/// Puts right what a rebuild found, after a yes.
struct RebuildRepair: Sendable {
    /// How far it goes.
    enum Extent: Sendable {
        /// Says what would be done.
        case plan
        /// Does it where whoever is asked says yes.
        case whereAgreed(@Sendable (String) async -> Bool)
    }

    let extent: Extent
    /// Who does it and why, for a subject.
    let note: @Sendable (String) -> OperatorAction

    /// - Throws: `CommandError` naming what this user may not change.
    func check(_ comparison: BeliefComparison) async throws {
        let forbidden = try await BeliefRepair(comparison).forbidden()
        guard forbidden.isEmpty else {
            throw CommandError(
                """
                this user may not change \(forbidden.joined(separator: ", ")): run it as the owner of the tables, or as a \
                user that has the role storekeeper_migrator
                """)
        }
    }

    func run(_ comparison: BeliefComparison, _ report: inout RebuildReport) async throws {
        report.leaveUnread()
        let (rows, purchases) = (report.suspectRows, report.suspects.count)
        guard purchases > 0 else { return }
        guard case .whereAgreed(let agrees) = extent else { return report.remedy = .planned }
        guard await agrees("Put \(rows) rows of \(purchases) purchases in place as the ledger tells them?") else {
            return report.remedy = .declined
        }
        report.remedy = .done
        let repair = BeliefRepair(comparison)
        let display = ProgressDisplay()
        var progress = ProgressLine(noun: "purchases put right", total: purchases, done: 0, elapsed: .zero)
        for (key, suspect) in report.suspects.sorted(by: { $0.key < $1.key }) {
            guard !Task.isCancelled else { throw Interrupted() }
            let outcome: BeliefRepair.Outcome
            do {
                outcome = try await repair.repair(key, found: suspect.fingerprint) { [note] differences in
                    note(differences.subject(of: key))
                }
            } catch {
                throw CommandError(
                    "\(report.repairedPurchases) of \(purchases) purchases were put right, the trail names them; then: "
                        + "\(error). Run it again.")
            }
            report.settle(key, outcome)
            progress.done += 1
            if purchases > 100 { display.show(progress, isLast: progress.done == purchases) }
        }
    }
}

extension [BeliefComparison.Difference] {
    /// What the trail calls them.
    fileprivate func subject(of key: SubscriptionKey) -> String {
        let rows = map { $0.row.isEmpty ? $0.table : "\($0.table) \($0.row)" }.joined(separator: ", ")
        return "purchase \(key.environment.rawValue) \(key.originalTransactionId): \(rows)"
    }
}
