import struct Foundation.Date
import typealias Foundation.TimeInterval
import struct Foundation.UUID

/// A purchase as Apple tells it: what happened so far, and what can happen next.
///
/// Pure: the event, its time and the identities come from outside. Each event answers with the one payload it causes.
struct SimulatedPurchase: Sendable, Equatable {
    enum Phase: Sendable, Equatable {
        case unborn
        case active
        /// Payment failed, access goes on until then.
        case grace(until: Date)
        /// Payment failed, no access, Apple tries until then.
        case billingRetry(until: Date)
        case expired
        /// The newest transaction was refunded.
        case revoked
    }

    private(set) var customer: Customer
    let timeScale: TimeScale
    private(set) var phase = Phase.unborn
    private(set) var purchase: Purchase?
    private(set) var renewal: Renewal?
    private(set) var isRefundRequested = false
    /// The time of the newest event. The next one is later.
    private(set) var now: Date

    /// - Parameter beginning: before anything happens.
    init(of customer: Customer, timeScale: TimeScale, beginning: Date) {
        self.customer = customer
        self.timeScale = timeScale
        now = beginning
    }

    /// Whether an event can happen now.
    func permits(_ event: LifecycleEvent) -> Bool {
        let willRenew = renewal?.willRenew ?? false
        return switch (event, phase) {
        case (.subscribe, .unborn): true
        case (.renew, .active), (.failToRenew, .active), (.failToRenewWithGrace, .active): willRenew
        case (.turnRenewalOff, .active): willRenew
        case (.turnRenewalOn, .active): !willRenew
        case (.upgrade, .active): willRenew && higherProducts.isEmpty == false
        case (.downgrade, .active): willRenew && !hasOtherNextProduct && lowerProducts.isEmpty == false
        case (.keepProduct, .active): willRenew && hasOtherNextProduct
        case (.outliveGrace, .grace): true
        case (.recover, .grace), (.recover, .billingRetry): true
        case (.expireVoluntarily, .active): !willRenew
        case (.expireInBillingRetry, .billingRetry): true
        case (.resubscribe, .expired), (.resubscribe, .revoked): true
        case (.requestRefund, .active): !isRefundRequested
        case (.declineRefund, .active): isRefundRequested
        case (.refund, .active), (.refund, .expired): true
        case (.reverseRefund, .revoked): true
        default: false
        }
    }

    /// Better than what is owned, in the same group.
    var higherProducts: [Product] { products { $0 > $1 } }

    /// Less than what is owned, in the same group.
    var lowerProducts: [Product] { products { $0 < $1 } }

    private var hasOtherNextProduct: Bool { renewal.map { $0.nextProduct != $0.product } ?? false }

    private func products(_ isWanted: (Int, Int) -> Bool) -> [Product] {
        guard let purchase else { return [] }
        return Product.subscriptions.filter { isWanted($0.level, purchase.product.level) }
    }

    /// Lets an event happen.
    /// - Parameters:
    ///   - date: later than ``now``, not earlier than what the event waits for (see ``EventGenerator``).
    ///   - product: what is bought or moved to; only `subscribe`, `resubscribe`, `upgrade` and `downgrade` look at it.
    /// - Returns: the payload Apple would send; nil, and nothing happens, if the event is not permitted now.
    mutating func apply(
        _ event: LifecycleEvent, at date: Date, product: Product, identities: inout Identities
    ) -> EventPayload? {
        guard permits(event), date > now else { return nil }
        switch event {
        case .subscribe: begin(product, at: date, identities: &identities)
        case .resubscribe: beginAgain(product, at: date, identities: &identities)
        case .upgrade: replaceTransaction(with: product, from: date, reason: .purchase, identities: &identities)
        case .renew: renew(from: purchase?.expiresDate ?? date, identities: &identities)
        case .recover: recover(at: date, identities: &identities)
        case .turnRenewalOff: renewal?.willRenew = false
        case .turnRenewalOn: renewal?.willRenew = true
        case .downgrade: renewal?.nextProduct = product
        case .keepProduct: if let owned = renewal?.product { renewal?.nextProduct = owned }
        case .failToRenew: fail(at: date)
        case .failToRenewWithGrace: failWithGrace(at: date)
        case .outliveGrace: outliveGrace(at: date)
        case .expireVoluntarily: expire(intent: 1)
        case .expireInBillingRetry: expire(intent: 2)
        case .requestRefund: isRefundRequested = true
        case .declineRefund: isRefundRequested = false
        case .refund: refund(at: date)
        case .reverseRefund: reverseRefund(at: date)
        }
        now = date
        return payload(event.kind, identities: &identities)
    }

    /// The developer gives time away: the period that runs ends later.
    /// - Returns: the payload Apple would send; nil, and nothing happens, unless the subscription is active.
    mutating func extend(by seconds: TimeInterval, at date: Date, identities: inout Identities) -> EventPayload? {
        guard phase == .active, date > now, let end = purchase?.expiresDate else { return nil }
        purchase?.expiresDate = end.adding(seconds)
        now = date
        return payload(.extended, identities: &identities)
    }

    /// Apple says something that changes nothing.
    /// - Returns: nil unless the date is later than ``now``.
    mutating func announce(
        _ kind: NotificationKind, at date: Date, identities: inout Identities
    ) -> EventPayload? {
        guard date > now else { return nil }
        now = date
        return payload(kind, identities: &identities)
    }

    /// The developer says whose purchase it is, from now on.
    mutating func assign(_ appAccountToken: UUID) { customer.appAccountToken = appAccountToken }

    private func payload(_ kind: NotificationKind, identities: inout Identities) -> EventPayload {
        EventPayload(
            uuid: identities.uuid(), kind: kind, app: customer.app, customer: customer,
            signedDate: now, status: status, purchase: purchase, renewal: renewal)
    }

    /// Apple's `status`; nil before birth.
    var status: Int? {
        switch phase {
        case .unborn: nil
        case .active: 1
        case .expired: 2
        case .billingRetry: 3
        case .grace: 4
        case .revoked: 5
        }
    }
}

// MARK: What each event changes

extension SimulatedPurchase {
    private mutating func begin(_ product: Product, at date: Date, identities: inout Identities) {
        let environment = customer.app.environment
        let id = identities.transactionId(in: environment)
        purchase = Purchase(
            originalTransactionId: id, transactionId: id,
            webOrderLineItemId: identities.webOrderLineItemId(in: environment), product: product, purchaseDate: date,
            originalPurchaseDate: date, expiresDate: product.period.map { timeScale.end(of: $0, from: date) },
            reason: .purchase)
        renewal = Renewal(
            product: product, nextProduct: product, willRenew: true, isInBillingRetry: false, recentStartDate: date)
        phase = .active
    }

    private mutating func beginAgain(_ product: Product, at date: Date, identities: inout Identities) {
        let end = purchase?.expiresDate ?? date
        if date.timeIntervalSince(end) > timeScale.recentGap { renewal?.recentStartDate = date }
        replaceTransaction(with: product, from: date, reason: .purchase, identities: &identities)
    }

    private mutating func renew(from date: Date, identities: inout Identities) {
        guard let next = renewal?.nextProduct else { return }
        replaceTransaction(with: next, from: date, reason: .renewal, identities: &identities)
    }

    /// In grace nothing was interrupted and the period goes on from where the last one ended; later it starts anew.
    private mutating func recover(at date: Date, identities: inout Identities) {
        if case .grace = phase, let end = purchase?.expiresDate {
            renew(from: end, identities: &identities)
        } else {
            renew(from: date, identities: &identities)
        }
    }

    private mutating func replaceTransaction(
        with product: Product, from date: Date, reason: Purchase.Reason, identities: inout Identities
    ) {
        let environment = customer.app.environment
        purchase?.transactionId = identities.transactionId(in: environment)
        purchase?.webOrderLineItemId = identities.webOrderLineItemId(in: environment)
        purchase?.product = product
        purchase?.purchaseDate = date
        purchase?.expiresDate = product.period.map { timeScale.end(of: $0, from: date) }
        purchase?.reason = reason
        purchase?.revocationDate = nil
        purchase?.revocationReason = nil
        renewal?.product = product
        renewal?.nextProduct = product
        renewal?.willRenew = true
        renewal?.isInBillingRetry = false
        renewal?.graceExpiresDate = nil
        renewal?.expirationIntent = nil
        isRefundRequested = false
        phase = .active
    }

    private mutating func fail(at date: Date) {
        renewal?.isInBillingRetry = true
        renewal?.expirationIntent = 2
        phase = .billingRetry(until: (purchase?.expiresDate ?? date).adding(timeScale.billingRetry))
    }

    private mutating func failWithGrace(at date: Date) {
        let period = purchase?.product.period ?? .month
        let end = (purchase?.expiresDate ?? date).adding(timeScale.grace(of: period))
        renewal?.isInBillingRetry = true
        renewal?.graceExpiresDate = end
        renewal?.expirationIntent = 2
        phase = .grace(until: end)
    }

    private mutating func outliveGrace(at date: Date) {
        phase = .billingRetry(until: (purchase?.expiresDate ?? date).adding(timeScale.billingRetry))
    }

    private mutating func expire(intent: Int) {
        renewal?.willRenew = false
        renewal?.isInBillingRetry = false
        renewal?.graceExpiresDate = nil
        renewal?.expirationIntent = intent
        phase = .expired
    }

    private mutating func refund(at date: Date) {
        purchase?.revocationDate = date
        purchase?.revocationReason = isRefundRequested ? 1 : 0
        renewal?.willRenew = false
        isRefundRequested = false
        phase = .revoked
    }

    /// The customer gets back what was paid for; the renewal date did not move meanwhile.
    private mutating func reverseRefund(at date: Date) {
        purchase?.revocationDate = nil
        purchase?.revocationReason = nil
        if let end = purchase?.expiresDate, end > date {
            phase = .active
        } else {
            phase = .expired
            if renewal?.expirationIntent == nil { renewal?.expirationIntent = 1 }
        }
    }
}
