import Postgres

import struct Foundation.Date

/// Refund requests as the ledger has them, one row for each transaction. Only `LedgerStore.apply` adds rows.
enum RefundRequestStore {
    /// Keeps the newest request and the newest outcome of each transaction, whatever the order of arrival. A request that is open
    /// after it is looked at next by the scheduler, unless that is planned already.
    static func command(upserting facts: [RefundFacts], at now: Date) -> Command {
        Command(upsert, all: RefundFacts.columns.parameters(of: facts) + [now])
    }

    private static let hasNewerRequest = newer("request", "requested_at")
    private static let hasNewerOutcome = newer("outcome", "outcome_at")

    /// Null, which counts as false, where the given row has none.
    private static func newer(_ name: String, _ time: String) -> String {
        "((excluded.\(time), excluded.\(name)_uuid) > (coalesce(held.\(time), '-infinity'), "
            + "coalesce(held.\(name)_uuid, '00000000-0000-0000-0000-000000000000')))"
    }

    private static func newest(_ column: String, where condition: String) -> String {
        "case when \(condition) then excluded.\(column) else held.\(column) end"
    }

    /// Purchase and app are those of the newest request, or where there is none of the newest outcome.
    private static let takesPurchase = """
        case when excluded.requested_at is null then held.requested_at is null and \(hasNewerOutcome)
            else \(hasNewerRequest) end
        """

    static let upsert = Statement(
        "refund-request-upsert",
        unsafeSQL: """
            insert into refund_request as held (\(RefundFacts.columns.names()), next_at)
            select given.*, case when requested_at > coalesce(outcome_at, '-infinity') then $11::timestamptz end
            from unnest(\(RefundFacts.columns.placeholders())) as given (\(RefundFacts.columns.names()))
            order by environment, transaction_id
            on conflict (environment, transaction_id) do update
            set original_transaction_id = \(newest("original_transaction_id", where: takesPurchase)),
                bundle_id = \(newest("bundle_id", where: takesPurchase)),
                requested_at = \(newest("requested_at", where: hasNewerRequest)),
                request_uuid = \(newest("request_uuid", where: hasNewerRequest)),
                reason = \(newest("reason", where: hasNewerRequest)),
                outcome_at = \(newest("outcome_at", where: hasNewerOutcome)),
                outcome_uuid = \(newest("outcome_uuid", where: hasNewerOutcome)),
                outcome = \(newest("outcome", where: hasNewerOutcome)),
                next_at = case
                    when \(newest("requested_at", where: hasNewerRequest))
                        > coalesce(\(newest("outcome_at", where: hasNewerOutcome)), '-infinity')
                        then coalesce(held.next_at, $11::timestamptz)
                end
            where \(hasNewerRequest) or \(hasNewerOutcome)
            """)
}
