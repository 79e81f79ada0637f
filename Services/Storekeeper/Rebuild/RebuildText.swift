import Storage

extension RebuildReport {
    /// For people.
    var lines: [String] {
        var lines = unreadable.map { fault in
            "\(fault.uuid.uuidString.lowercased()) cannot be read by this build: \(fault.reason)"
        }
        if unread > unreadable.count { lines.append("… and \(unread - unreadable.count) more notifications") }
        lines += differences.map(\.sentence)
        if differing > differences.count { lines.append("… and \(differing - differences.count) more rows") }
        lines.append(
            "\(notifications) notifications read again, \(judged) of \(purchases) purchases judged: \(outcome)")
        if cut > 0 {
            lines.append("\(cut) purchases not judged: retention has taken what some of their notifications said.")
        }
        if restless > 0 {
            lines.append("\(restless) purchases not judged: they changed each time; run it again when less arrives.")
        }
        lines += left.prefix(limit).map { left in
            "purchase \(left.key.environment.rawValue) \(left.key.originalTransactionId) was left: \(left.reason)"
        }
        if left.count > limit { lines.append("… and \(left.count - limit) more purchases were left") }
        if let treatment { lines.append(treatment) }
        return lines
    }

    private var outcome: String {
        if differing > 0 { return "\(differing) rows differ." }
        if purchases == 0 { return "there is nothing to compare." }
        return judged == 0 ? "nothing is proven." : "every row is the same."
    }

    private var treatment: String? {
        switch remedy {
        case .none: nil
        case .planned: "\(suspectRows) rows of \(suspects.count) purchases would be put in place."
        case .declined: "Nothing was changed."
        case .done: "\(repairedRows) rows of \(repairedPurchases) purchases were put in place."
        }
    }
}

extension BeliefComparison.Difference {
    /// One line: where, and what is different.
    var sentence: String {
        let place = "\(table) \(key.environment.rawValue) \(key.originalTransactionId)" + (row.isEmpty ? "" : " \(row)")
        switch presence {
        case .onlyLive: return "\(place): the ledger does not tell of this row"
        case .onlyRebuilt: return "\(place): the row is missing"
        case .both:
            let columns = columns.map { column in
                "\(column.name) is \(column.live ?? "empty"), by the ledger \(column.rebuilt ?? "empty")"
            }
            return "\(place): \(columns.joined(separator: "; "))"
        }
    }
}
