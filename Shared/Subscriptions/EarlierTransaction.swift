import struct Foundation.Date

/// What event says of a transaction that is not the current one of its purchase. It changes no fact of the purchase and
/// may still give or end access, because an earlier period stands where the current one gives nothing.
public struct EarlierTransaction: Sendable, Equatable {
    /// What is said of it, by the name that the timeline gives it.
    public enum Fact: String, Sendable, CaseIterable {
        /// When it was taken back.
        case revocationDate = "earlierRevocationDate"
        /// Until when it runs, not being taken back.
        case expiresDate = "earlierExpiresDate"
    }

    /// Apple's id of it.
    public var transactionId: String
    /// What is said.
    public var fact: Fact
    /// The date, as ``Change`` writes dates.
    public var text: String

    /// Nil where the event holds the current transaction, or one that is over: its end moves nothing.
    /// - Parameters:
    ///   - subscription: after the event.
    ///   - now: by our clock.
    public init?(_ event: PurchaseEvent, of subscription: Subscription, at now: Date) {
        guard let told = event.transaction, told.transactionId != subscription.transaction?.transactionId else {
            return nil
        }
        if let revoked = told.revocationDate {
            (fact, text) = (.revocationDate, revoked.iso8601)
        } else if let end = told.expiresDate, end > now {
            (fact, text) = (.expiresDate, end.iso8601)
        } else {
            return nil
        }
        transactionId = told.transactionId
    }
}
