/// Why a subscription ended.
public enum ExpiryReason: String, Sendable, Hashable, CaseIterable {
    /// The customer had switched auto-renew off.
    case voluntary
    /// The charge failed for good.
    case billing
    /// The customer did not agree to a higher price.
    case price
    /// The product was no longer sold.
    case productUnavailable
    /// Another one, or one that Apple did not tell.
    case other
}

extension Subscription {
    /// Why the current period was the last; only of use where ``state(at:)`` is `expired`.
    ///
    /// The `EXPIRED` notification of the current transaction tells; without one the renewal info does.
    /// - Parameter marks: of this purchase.
    public func expiryReason(_ marks: Marks) -> ExpiryReason {
        let told = EventType.allCases.filter(\.isEnd).compactMap { end in
            marks[end].map { (end: end, mark: $0) }
        }.filter { $0.mark.transactionId == transaction?.transactionId }
            .max { $0.mark.version < $1.mark.version }
        switch told?.end {
        case .expiredVoluntarily: return .voluntary
        case .expiredInBillingRetry: return .billing
        case .expiredOverPrice: return .price
        case .expiredUnsold: return .productUnavailable
        default: return intendedReason
        }
    }

    private var intendedReason: ExpiryReason {
        switch renewal?.expirationIntent {
        case 1: .voluntary
        case 2: .billing
        case 3: .price
        case 4: .productUnavailable
        case .some: .other
        case nil where renewal?.isInBillingRetry == true: .billing
        case nil where renewal?.autoRenewStatus == false: .voluntary
        case nil: .other
        }
    }
}
