/// A table whose rows depend on the set of notifications alone, and not on their arrival.
struct ComparedTable: Sendable {
    var name: String
    /// The SQL expression that identifies a row within its purchase.
    var key: String
    /// Columns that depend on arrival, with their values in a repaired row, as SQL over the stored row `held`.
    var ignored: [(column: String, value: String)] = []
    /// A column that follows from another table of the live schema that no notification makes, and its value for a rebuilt row.
    var derived: (column: String, value: @Sendable (_ row: String, _ live: String) -> String)?
    var condition = "true"

    /// The rebuilt row of an alias as JSON, with the derived column as the live schema has it.
    /// - Parameters:
    ///   - json: the row as JSON, as SQL.
    ///   - live: the schema, quoted.
    func rebuilt(_ json: String, of row: String, live: String) -> String {
        guard let derived else { return json }
        return "\(json) || jsonb_build_object('\(derived.column)', \(derived.value(row, live)))"
    }

    static let all = [
        // One more than the stored revision, so that a writer with the stored one finds that the row has changed.
        ComparedTable(name: "subscription", key: "''", ignored: [("revision", "held.revision + 1")]),
        ComparedTable(name: "transaction", key: "transaction_id"),
        ComparedTable(name: "access_period", key: "lower(period)::text"),
        ComparedTable(name: "anomaly", key: "name"),
        ComparedTable(
            name: "lifecycle_gap", key: "kind || ' ' || before_uuid", ignored: [("noticed_at", "held.noticed_at")]),
        // A repaired request is looked at again, also where nothing is left to do.
        ComparedTable(
            name: "refund_request", key: "transaction_id",
            ignored: [
                ("next_at", "case when fresh.next_at is not null then coalesce(held.next_at, fresh.next_at) end")
            ],
            // As the trigger note_withheld.
            derived: (
                column: "was_withheld",
                value: { row, live in
                    """
                    case
                        when exists (
                            select
                            from \(live).refund_answer answer
                            where answer.environment = $1::text::\(live).store_environment
                                and answer.transaction_id = \(row).transaction_id
                                and (answer.withheld_because <> 'late' or answer.failed_with = 'consentWithdrawn'))
                        then true
                    end
                    """
                }
            )),
        ComparedTable(
            name: "account_claim", key: "bundle_id || ' ' || app_account_token", condition: "evidence = 'apple'"),
    ]
}
