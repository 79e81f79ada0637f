import struct Foundation.Date

/// What an event reports about a transaction that is not the current one of its purchase.
///
/// It changes no fact of the purchase, but may grant or end access: an earlier period counts where the current one gives
/// no access.
public struct EarlierTransaction: Sendable, Equatable {
    /// The reported date, by its name in the timeline.
    public enum Fact: String, Sendable, CaseIterable {
        /// When the transaction was refunded or revoked.
        case revocationDate = "earlierRevocationDate"
        /// The end of the period of a transaction that was not revoked.
        case expiresDate = "earlierExpiresDate"
    }

    /// Apple's id of the earlier transaction.
    public var transactionId: String
    /// Which date the event reports.
    public var fact: Fact
    /// The date, as ``Change`` writes dates.
    public var text: String

    /// Nil where the event holds the current transaction, or one whose period is over.
    /// - Parameters:
    ///   - subscription: the state after the event.
    ///   - now: the clock of this process.
    public init?(_ event: PurchaseEvent, of subscription: Subscription, at now: Date) {
        guard let transaction = event.transaction,
            transaction.transactionId != subscription.transaction?.transactionId
        else { return nil }
        if let revoked = transaction.revocationDate {
            (fact, text) = (.revocationDate, revoked.iso8601)
        } else if let end = transaction.expiresDate, end > now {
            (fact, text) = (.expiresDate, end.iso8601)
        } else {
            return nil
        }
        transactionId = transaction.transactionId
    }
}
