/// A table whose rows are a function of the set of notifications.
struct ComparedTable: Sendable {
    var name: String
    /// Names a row within its purchase.
    var key: String
    /// Columns that tell of arrival, and what a row that is put right has in them: of the row that stood there, `held`.
    var ignored: [(column: String, value: String)] = []
    var condition = "true"

    static let all = [
        // One more than the row had: whoever has read that one finds out that it is gone.
        ComparedTable(name: "subscription", key: "''", ignored: [("revision", "held.revision + 1")]),
        ComparedTable(name: "transaction", key: "transaction_id"),
        ComparedTable(name: "access_period", key: "lower(period)::text"),
        ComparedTable(name: "anomaly", key: "name"),
        ComparedTable(
            name: "lifecycle_gap", key: "kind || ' ' || before_uuid", ignored: [("noticed_at", "held.noticed_at")]),
        ComparedTable(
            name: "account_claim", key: "bundle_id || ' ' || app_account_token", condition: "source = 'transaction'"),
    ]
}
