import Contracts
import Postgres

import struct Foundation.UUID

/// Compares whose consent a parent withdrew (`RESCIND_CONSENT`), as the rows of the ledger say, with what Apple's payloads say.
///
/// A withdrawal is about no purchase, so that ``StateComparison`` does not see it. It counts by the row alone, because payloads are
/// deleted earlier.
public struct WithdrawalComparison: Sendable {
    private let connection: PostgresConnection
    /// The name of the schema, quoted.
    private let live: String

    /// - Parameter comparison: its live schema is compared.
    public init(_ comparison: StateComparison) {
        connection = comparison.connection
        live = comparison.live
    }

    /// A withdrawal whose row does not say what its payload says. The values are Apple's ids of customers.
    public struct Difference: Sendable, Equatable {
        /// Apple's id of the notification.
        public var notificationUUID: UUID
        /// The environment of the customer.
        public var environment: String
        /// The app.
        public var bundleId: String
        /// The customer in the row; nil for none.
        public var stored: String?
        /// The customer in the payload; nil for none.
        public var signed: String?
    }

    /// The result of comparing all withdrawals.
    public struct Findings: Sendable, Equatable {
        /// Number of withdrawals.
        public var withdrawals = 0
        /// In the order in which Apple signed them.
        public var differences: [Difference] = []
        /// Withdrawals that count for no customer, and of which no payload says for whom: it was deleted before the row said it, or with
        /// an erasure.
        public var unknown = 0

        /// Nothing was compared.
        public init() {}
    }

    /// Reads all withdrawals: an app has few.
    public func findings() async throws -> Findings {
        var findings = Findings()
        for row in try await connection.execute(all) {
            findings.withdrawals += 1
            let stored = try row.optional("app_transaction_id", as: String.self)
            guard let payload = try row.optional("decoded", as: JSONText.self) else {
                if stored == nil { findings.unknown += 1 }
                continue
            }
            let signed = LedgerEntry.rescindingCustomer(in: Array(payload.text.utf8))
            if stored == nil, signed == nil { findings.unknown += 1 }
            guard stored != signed else { continue }
            findings.differences.append(
                Difference(
                    notificationUUID: try row.value("notification_uuid"), environment: try row.value("environment"),
                    bundleId: try row.value("bundle_id"), stored: stored, signed: signed))
        }
        return findings
    }

    /// Has the row of a withdrawal say what its payload says, with an entry in the audit log.
    /// - Returns: false where the row has changed since, or its payload is gone, with an erasure for one: it was not touched.
    public func repair(_ difference: Difference, note: OperatorAction) async throws -> Bool {
        try await repeating {
            try await connection.transaction { transaction in
                // Waits for a running erasure, which deletes the payload and the id.
                _ = try transaction.pipeline([ErasedAccounts.command(among: [])])
                let repaired = try transaction.execute(
                    correct, difference.notificationUUID, difference.stored, difference.signed)
                guard repaired.affected == 1 else { return false }
                _ = try transaction.pipeline([OperatorActionStore.command(recording: [note])])
                return true
            }
        }
    }

    private var all: Statement {
        Statement(
            unsafeSQL: """
                select notification_uuid, environment::text as environment, bundle_id, app_transaction_id, decoded
                from \(live).notification
                left join \(live).notification_payload using (notification_uuid, recorded_at)
                where notification_type = 'RESCIND_CONSENT'
                order by signed_at, notification_uuid
                """)
    }

    private var correct: Statement {
        Statement(
            unsafeSQL: """
                update \(live).notification known
                set app_transaction_id = $3::text
                where notification_uuid = $1::uuid and notification_type = 'RESCIND_CONSENT'
                    and app_transaction_id is not distinct from $2::text
                    and exists (
                        select
                        from \(live).notification_payload payload
                        where payload.notification_uuid = known.notification_uuid
                            and payload.recorded_at = known.recorded_at)
                """)
    }
}
