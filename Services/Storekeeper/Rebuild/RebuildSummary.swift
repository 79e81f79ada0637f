/// The report as JSON.
struct RebuildSummary: Encodable {
    /// A purchase that was not repaired.
    struct Purchase: Encodable {
        var environment: String
        var originalTransactionId: String
        var reason: String
    }

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
    var compared: Int
    var differingRows: Int
    var truncated: Int
    var changing: Int
    var repairedRows: Int
    var repairedPurchases: Int
    /// Withdrawals of a consent whose row does not say what the payload says.
    var differingWithdrawals: [String]
    var repairedWithdrawals: Int
    /// Withdrawals of a consent of which neither row nor payload says for whom they count.
    var unknownWithdrawals: Int
    var skipped: [Purchase]
    var unreadable: [String]
    var differences: [Row]

    init(_ report: RebuildReport) {
        notifications = report.notifications
        purchases = report.purchases
        compared = report.compared
        differingRows = report.differing
        truncated = report.truncated
        changing = report.changing
        repairedRows = report.repairedRows
        repairedPurchases = report.repairedPurchases
        differingWithdrawals = report.withdrawals.differences.map { $0.notificationUUID.uuidString.lowercased() }
        repairedWithdrawals = report.repairedWithdrawals
        unknownWithdrawals = report.withdrawals.unknown
        skipped = report.skipped.map {
            Purchase(
                environment: $0.key.environment.rawValue, originalTransactionId: $0.key.originalTransactionId,
                reason: $0.reason)
        }
        unreadable = report.unreadable.map { $0.uuid.uuidString.lowercased() }
        differences = report.differences.map { one in
            Row(
                environment: one.key.environment.rawValue, originalTransactionId: one.key.originalTransactionId,
                table: one.table, row: one.row, presence: one.presence.rawValue,
                columns: Dictionary(uniqueKeysWithValues: one.columns.map { ($0.name, [$0.live, $0.rebuilt]) }))
        }
    }
}
