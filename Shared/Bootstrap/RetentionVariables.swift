import Chassis
import Storage

/// Limits of the retention settings.
package enum RetentionVariables {
    /// Days to keep payloads.
    package static let ledgerRange = RetentionPolicy.leastLedgerDays...36_500
    /// Days to keep seen notificationUUIDs.
    package static let seenRange = RetentionPolicy.leastSeenDays...365
}

extension Variable where Value == Int {
    /// Retention of payloads.
    package static var ledgerDays: Variable {
        .int(
            "STOREKEEPER_LEDGER_DAYS",
            "days to keep the contents of notifications, decoded and as signed, in whole months; the rows of the table of "
                + "notifications remain",
            default: "400", in: RetentionVariables.ledgerRange)
    }

    /// Retention of seen notificationUUIDs.
    package static var seenDays: Variable {
        .int(
            "STOREKEEPER_SEEN_DAYS",
            "days to keep seen notificationUUIDs; Apple retries for 157 hours",
            default: "8", in: RetentionVariables.seenRange)
    }
}
