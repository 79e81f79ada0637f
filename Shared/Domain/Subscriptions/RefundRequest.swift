/// What is known of a request to refund one transaction: the newest of what Apple sent about it, by Apple's clock, so that the order
/// of arrival and repeats do not matter.
public struct RefundRequest: Sendable, Equatable {
    /// What became of the request, by its name in the timeline.
    public enum Status: String, Sendable, CaseIterable {
        /// The customer asked Apple for a refund, and Apple asks how far the purchase was used (CONSUMPTION_REQUEST).
        case requested
        /// Apple refunded the transaction, asked by the customer or not (REFUND).
        case refunded
        /// Apple declined the request (REFUND_DECLINED).
        case declined
        /// Apple took a refund back (REFUND_REVERSED).
        case reversed

        /// - Parameter notificationType: Apple's, raw; nil for a type that says nothing about a refund.
        package init?(notificationType: String) {
            switch notificationType {
            case "CONSUMPTION_REQUEST": self = .requested
            case "REFUND": self = .refunded
            case "REFUND_DECLINED": self = .declined
            case "REFUND_REVERSED": self = .reversed
            default: return nil
            }
        }
    }

    /// Apple's id of the transaction.
    public var transactionId: String
    /// What became of the request.
    public var status: Status
    /// The version of the event that said so.
    public var version: EventVersion

    package init(transactionId: String, status: Status, version: EventVersion) {
        self.transactionId = transactionId
        self.status = status
        self.version = version
    }

    /// Nil for an event that says nothing about the refund of a transaction.
    public init?(_ event: PurchaseEvent) {
        guard let status = Status(notificationType: event.notificationType), let transaction = event.transaction else {
            return nil
        }
        self.init(transactionId: transaction.transactionId, status: status, version: event.version)
    }
}
