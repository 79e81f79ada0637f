import Commands
import Contracts
import Storage
import Subscriptions

import struct Foundation.Date

/// Repairs the differences that a rebuild found, after confirmation.
struct RebuildRepair: Sendable {
    /// How far it goes.
    enum Extent: Sendable {
        /// Prints the plan.
        case plan
        /// Repairs if the question is answered with yes.
        case whereAgreed(@Sendable (String) async -> Bool)
    }

    let extent: Extent
    let now: @Sendable () -> Date
    /// The audit log entry for a subject.
    let note: @Sendable (String) -> OperatorAction

    /// - Throws: `CommandError` with the tables that this user may not change.
    func check(_ comparison: StateComparison) async throws {
        let forbidden = try await StateRepair(comparison).forbidden()
        guard forbidden.isEmpty else {
            throw CommandError(
                """
                no right to change \(forbidden.joined(separator: ", ")): run it as the owner of the tables or with the role \
                storekeeper_migrator
                """)
        }
    }

    func run(_ comparison: StateComparison, _ report: inout RebuildReport) async throws {
        report.skipUnreadable()
        let (rows, purchases) = (report.rowsOfDifferingPurchases, report.differingPurchases.count)
        let withdrawals = report.withdrawals.differences
        guard purchases > 0 || !withdrawals.isEmpty else { return }
        guard case .whereAgreed(let agrees) = extent else { return report.repairState = .planned }
        let further = withdrawals.isEmpty ? "" : ", and \(withdrawals.count) withdrawals of a consent,"
        guard await agrees("Repair \(rows) rows of \(purchases) purchases\(further) from the ledger?") else {
            return report.repairState = .declined
        }
        report.repairState = .done
        try await repairWithdrawals(withdrawals, comparison, &report)
        let repair = StateRepair(comparison)
        let display = ProgressDisplay()
        var progress = ProgressLine(noun: "purchases repaired", total: purchases, done: 0, elapsed: .zero)
        for (key, purchase) in report.differingPurchases.sorted(by: { $0.key < $1.key }) {
            guard !Task.isCancelled else { throw Interrupted() }
            let outcome: StateRepair.Outcome
            do {
                outcome = try await repair.repair(key, found: purchase.fingerprint, at: now()) { [note] differences in
                    note(differences.subject(of: key))
                }
            } catch {
                throw CommandError(
                    "repaired \(report.repairedPurchases) of \(purchases) purchases (see storekeeper audit), then failed: "
                        + "\(error). Run it again.")
            }
            report.record(key, outcome)
            progress.done += 1
            if purchases > 100 { display.show(progress, isLast: progress.done == purchases) }
        }
    }
}

extension RebuildRepair {
    private func repairWithdrawals(
        _ withdrawals: [WithdrawalComparison.Difference], _ comparison: StateComparison,
        _ report: inout RebuildReport
    ) async throws {
        let repair = WithdrawalComparison(comparison)
        for withdrawal in withdrawals {
            let uuid = withdrawal.notificationUUID.uuidString.lowercased()
            do {
                let isRepaired = try await repair.repair(
                    withdrawal, note: note("withdrawal \(withdrawal.environment) \(uuid): notification"))
                if isRepaired { report.repairedWithdrawals += 1 }
            } catch {
                throw CommandError(
                    "repaired \(report.repairedWithdrawals) of \(withdrawals.count) withdrawals (see storekeeper audit), then "
                        + "failed: \(error). Run it again.")
            }
        }
    }
}

extension [StateComparison.Difference] {
    /// Their subject in the audit log.
    fileprivate func subject(of key: SubscriptionKey) -> String {
        let rows = map { $0.row.isEmpty ? $0.table : "\($0.table) \($0.row)" }.joined(separator: ", ")
        return "purchase \(key.environment.rawValue) \(key.originalTransactionId): \(rows)"
    }
}
