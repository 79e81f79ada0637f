import Postgres
import Subscriptions

import struct Foundation.Date

/// Dates rounded to microseconds, the precision of Postgres: a date from a notification and the same date read back must
/// compare equal, or the order of events would depend on where they were read.
extension LedgerEntry {
    func withEventAtPostgresPrecision() throws -> LedgerEntry {
        guard var event else { return self }
        event.version.signedDate = try event.version.signedDate.atPostgresPrecision()
        event.transaction = try event.transaction?.atPostgresPrecision()
        event.renewal = try event.renewal?.atPostgresPrecision()
        var entry = self
        entry.event = event
        return entry
    }
}

extension TransactionFacts {
    fileprivate func atPostgresPrecision() throws -> TransactionFacts {
        var facts = self
        facts.signedDate = try signedDate.atPostgresPrecision()
        facts.purchaseDate = try purchaseDate?.atPostgresPrecision()
        facts.originalPurchaseDate = try originalPurchaseDate?.atPostgresPrecision()
        facts.expiresDate = try expiresDate?.atPostgresPrecision()
        facts.revocationDate = try revocationDate?.atPostgresPrecision()
        return facts
    }
}

extension RenewalFacts {
    fileprivate func atPostgresPrecision() throws -> RenewalFacts {
        var facts = self
        facts.signedDate = try signedDate.atPostgresPrecision()
        facts.gracePeriodExpiresDate = try gracePeriodExpiresDate?.atPostgresPrecision()
        facts.recentSubscriptionStartDate = try recentSubscriptionStartDate?.atPostgresPrecision()
        facts.renewalDate = try renewalDate?.atPostgresPrecision()
        return facts
    }
}
