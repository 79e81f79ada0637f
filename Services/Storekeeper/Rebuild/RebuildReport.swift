import Storage

import struct Foundation.UUID

/// What a rebuild came to.
struct RebuildReport: Sendable {
    /// A notification that this build cannot read, though an earlier one did.
    struct Unreadable: Sendable, Equatable {
        var uuid: UUID
        var reason: String
    }

    /// Read again.
    var notifications = 0
    /// Looked at.
    var purchases = 0
    var differences: [BeliefComparison.Difference] = []
    var unreadable: [Unreadable] = []
    /// Purchases of whose notifications retention has taken some.
    var cut = 0
    /// Purchases that were written to each time they were looked at.
    var restless = 0

    /// Purchases that were compared to the end.
    var judged: Int { purchases - cut - restless }

    /// Whether it is proven that every row of what could be judged follows from the ledger. Nothing judged proves nothing.
    var isClean: Bool {
        differences.isEmpty && unreadable.isEmpty && restless == 0 && (judged > 0 || purchases == 0)
    }

    mutating func join(_ findings: BeliefComparison.Findings) {
        purchases += findings.purchases
        differences += findings.differences
        cut += findings.cut.count
    }

    /// For people.
    func lines(limit: Int) -> [String] {
        var lines = unreadable.prefix(limit).map { fault in
            "\(fault.uuid.uuidString.lowercased()) cannot be read by this build: \(fault.reason)"
        }
        lines += differences.prefix(limit).map(\.sentence)
        if differences.count > limit { lines.append("… and \(differences.count - limit) more rows") }
        lines.append(
            "\(notifications) notifications read again, \(judged) of \(purchases) purchases judged: \(outcome)")
        if cut > 0 {
            lines.append("\(cut) purchases not judged: retention has taken what some of their notifications said.")
        }
        if restless > 0 {
            lines.append("\(restless) purchases not judged: they changed each time; run it again when less arrives.")
        }
        return lines
    }

    private var outcome: String {
        if !differences.isEmpty { return "\(differences.count) rows differ." }
        if purchases == 0 { return "there is nothing to compare." }
        return judged == 0 ? "nothing is proven." : "every row is the same."
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

/// The report for programs.
struct RebuildSummary: Encodable {
    struct Row: Encodable {
        var environment: String
        var originalTransactionId: String
        var table: String
        var row: String
        var presence: String
        var columns: [String: [String?]]
    }

    var notifications: Int
    var purchases: Int
    var judged: Int
    var differingRows: Int
    var cut: Int
    var restless: Int
    var unreadable: [String]
    var differences: [Row]

    init(_ report: RebuildReport, limit: Int) {
        notifications = report.notifications
        purchases = report.purchases
        judged = report.judged
        differingRows = report.differences.count
        cut = report.cut
        restless = report.restless
        unreadable = report.unreadable.prefix(limit).map { $0.uuid.uuidString.lowercased() }
        differences = report.differences.prefix(limit).map { one in
            Row(
                environment: one.key.environment.rawValue, originalTransactionId: one.key.originalTransactionId,
                table: one.table, row: one.row, presence: one.presence.rawValue,
                columns: Dictionary(uniqueKeysWithValues: one.columns.map { ($0.name, [$0.live, $0.rebuilt]) }))
        }
    }
}
