import Storage

extension RebuildReport {
    /// As text.
    var lines: [String] {
        var lines = unreadable.map { fault in
            "\(fault.uuid.uuidString.lowercased()) cannot be read by this release: \(fault.reason)"
        }
        if unread > unreadable.count { lines.append("… and \(unread - unreadable.count) more notifications") }
        lines += differences.map(\.sentence)
        if differing > differences.count { lines.append("… and \(differing - differences.count) more rows") }
        lines += withdrawals.differences.prefix(limit).map(\.sentence)
        if withdrawals.differences.count > limit {
            lines.append("… and \(withdrawals.differences.count - limit) more withdrawals of a consent")
        }
        lines.append(
            "\(notifications) notifications applied, \(compared) of \(purchases) purchases compared: \(outcome)")
        if truncated > 0 {
            lines.append("\(truncated) purchases not compared: retention deleted some of their notifications.")
        }
        if changing > 0 {
            lines.append(
                "\(changing) purchases not compared: they changed during every comparison; run it again at a quieter time."
            )
        }
        if withdrawals.unknown > 0 {
            lines.append(
                "\(withdrawals.unknown) withdrawals of a consent (RESCIND_CONSENT) count for no customer, and no payload says for whom: "
                    + "it was deleted, or the customer was erased. Where you know the account, withdraw the consent: "
                    + "DELETE /v1/customers/{customerId}/consents/consumption.")
        }
        lines += skipped.prefix(limit).map { skipped in
            "purchase \(skipped.key.environment.rawValue) \(skipped.key.originalTransactionId) was skipped: \(skipped.reason)"
        }
        if skipped.count > limit { lines.append("… and \(skipped.count - limit) more purchases were skipped") }
        if let treatment { lines.append(treatment) }
        return lines
    }

    private var outcome: String {
        if differing > 0 { return "\(differing) rows differ." }
        if purchases == 0 { return "nothing to compare." }
        return compared == 0 ? "nothing was compared." : "no differences."
    }

    private var treatment: String? {
        switch repairState {
        case .none: nil
        case .planned:
            """
            \(rowsOfDifferingPurchases) rows of \(differingPurchases.count) purchases\
            \(further(withdrawals.differences.count)) would be repaired.
            """
        case .declined: "No changes."
        case .done: "\(repairedRows) rows of \(repairedPurchases) purchases\(further(repairedWithdrawals)) repaired."
        }
    }

    private func further(_ withdrawals: Int) -> String {
        withdrawals == 0 ? "" : ", and \(withdrawals) withdrawals of a consent,"
    }
}

extension WithdrawalComparison.Difference {
    /// One line: the notification and its difference.
    var sentence: String {
        "notification \(environment) \(notificationUUID.uuidString.lowercased()): app_transaction_id is \(stored ?? "null"), "
            + "by its payload \(signed ?? "null")"
    }
}

extension StateComparison.Difference {
    /// One line: the row and its difference.
    var sentence: String {
        let place = "\(table) \(key.environment.rawValue) \(key.originalTransactionId)" + (row.isEmpty ? "" : " \(row)")
        switch presence {
        case .onlyLive: return "\(place): the row does not follow from the ledger"
        case .onlyRebuilt: return "\(place): the row is missing"
        case .both:
            let columns = columns.map { column in
                "\(column.name) is \(column.live ?? "null"), rebuilt \(column.rebuilt ?? "null")"
            }
            return "\(place): \(columns.joined(separator: "; "))"
        }
    }
}
