import struct Foundation.Date

extension PurchaseSnapshot {
    /// The decision about the purchase by itself, without other purchases of the customer.
    func decision(
        levels: ServiceLevels, durations: [String: ProductDuration] = [:], at moment: Date
    ) -> EntitlementDecision {
        let period = AccessSchedule(of: self, durations: durations).period(at: moment)
        let current = subscription.transaction
        let decisive = versions.first { $0.facts.transactionId == period?.transactionId }?.facts ?? current
        let productId = period?.productId ?? decisive?.productId
        return EntitlementDecision(
            key: subscription.key, bundleId: subscription.bundleId, productId: productId, transaction: decisive,
            level: productId.flatMap { levels[$0] }, until: period?.endsAt,
            status: status(at: moment, period), isDurationUnknown: period?.reason == .durationUnknown)
    }

    private func status(at moment: Date, _ period: AccessPeriod?) -> EntitlementStatus {
        switch period?.reason {
        case .transaction, .status: return .active
        case .gracePeriod: return .gracePeriod
        case .nonConsumable: return .owned
        case .nonRenewing, .durationUnknown: return .nonRenewing
        case nil: break
        }
        return switch subscription.state(at: moment, access: nil) {
        case .expired: subscription.transaction?.kind == .nonRenewing ? .nonRenewingEnded : .expired
        case .billingRetry: .billingRetry
        case .overdue: .overdue
        case .revoked: .revoked
        case .upgraded: .upgraded
        case .consumed: .consumed
        // The first three have an access period.
        case .active, .gracePeriod, .owned, .unknown: .unknown
        }
    }
}
