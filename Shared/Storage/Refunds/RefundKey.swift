import Contracts
import Postgres

/// A transaction about which a refund was requested.
package struct RefundKey: Sendable, Hashable {
    package var environment: StoreEnvironment
    package var transactionId: String

    package init(_ environment: StoreEnvironment, _ transactionId: String) {
        self.environment = environment
        self.transactionId = transactionId
    }

    init(_ row: Row) throws {
        self.init(try StoreEnvironment(stored: try row.value("environment")), try row.value("transaction_id"))
    }
}
