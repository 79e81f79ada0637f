import Contracts
import Postgres
import Refunds

import struct Foundation.Date

/// The policies of apps.
package struct RefundPolicyStore: VersionedDocumentStore {
    package typealias Document = RefundPolicy

    package let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Has the open requests of the app looked at.
    package static func following(_ bundleId: String, in environment: StoreEnvironment, at now: Date) -> [Command] {
        [Command(wake, environment.rawValue, bundleId, now)]
    }

    static let statements = [newest, insert, wake]

    package static let newest = Statement.newestVersions("refund-policy-newest", of: "refund_policy")
    package static let insert = Statement.versionInsert("refund-policy-insert", into: "refund_policy")

    private static let wake = Statement(
        "refund-policy-wake",
        """
        update refund_request
        set next_at = $3::timestamptz
        where environment = $1::text::store_environment and bundle_id = $2::text
            and requested_at > $3::timestamptz - interval '12 hours' and requested_at > coalesce(outcome_at, '-infinity')
            and not exists (
                select
                from refund_answer
                where refund_answer.environment = refund_request.environment
                    and refund_answer.transaction_id = refund_request.transaction_id and body is not null
                    and decided_at > coalesce(outcome_at, '-infinity'))
        """)
}

extension DocumentVersion<RefundPolicy> {
    /// - Throws: where a newer build accepted what this one does not.
    package var policy: RefundPolicy {
        get throws(RefundPolicyFaults) { try RefundPolicy(Array(document.utf8)) }
    }
}
