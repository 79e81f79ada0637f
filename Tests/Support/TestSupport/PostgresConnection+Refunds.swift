import Foundation
import Postgres

extension PostgresConnection {
    /// When the next refund request is due; nil where none is planned.
    public func nextRefundDue() throws -> Date? {
        try execute(Statement("test-refund-next", "select min(next_at) as next_at from refund_request"))
            .first?.optional("next_at")
    }
}
