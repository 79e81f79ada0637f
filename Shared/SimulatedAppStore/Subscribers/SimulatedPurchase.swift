import struct Foundation.Date
import typealias Foundation.TimeInterval
import struct Foundation.UUID

/// A subscription or a one-time purchase: its events so far, and those that can follow.
///
/// Pure: the event, its time and the ids are arguments. Each event returns the one payload that it causes.
struct SimulatedPurchase: Sendable, Equatable {
    enum Phase: Sendable, Equatable {
        case notBought
        case active
        /// Payment failed; access continues until then.
        case grace(until: Date)
        /// Payment failed, no access; Apple retries until then.
        case billingRetry(until: Date)
        case expired
        /// The newest transaction was refunded, or sharing ended.
        case revoked
        /// A one-time purchase.
        case owned
    }

    /// A refund that a customer asked for.
    struct RefundRequest: Sendable, Equatable {
        var transactionId: String
        var requestedAt: Date
        /// Whether the developer sent consumption information, after which Apple does not ask again.
        var isAnswered = false
    }

    var customer: Customer
    /// What the app sells; empty is the simulator's own products.
    var catalogue: [Product] = []
    let timeScale: TimeScale
    var phase = Phase.notBought
    /// In the order of their charges.
    var transactions: [Purchase] = []
    var renewal: Renewal?
    var refundRequest: RefundRequest?
    var access = ExpectedAccess()
    /// The payments of the buyer; a customer who shares a purchase pays nothing.
    var book = ChargeBook()
    /// Renewals since the newest beginning.
    var renewals = 0
    /// The time of the newest event. The next one is later.
    var now: Date

    /// - Parameter beginning: before anything happens.
    init(of customer: Customer, timeScale: TimeScale, beginning: Date) {
        self.customer = customer
        self.timeScale = timeScale
        now = beginning
    }

    /// The newest transaction.
    var purchase: Purchase? { transactions.last }

    /// The transaction before the newest, where it can still be refunded.
    var earlierPurchase: Purchase? {
        transactions.dropLast().last.flatMap { $0.revocation == nil && !$0.isUpgraded ? $0 : nil }
    }

    /// The transaction by which seats were added in the current period; nil once it was refunded.
    var addedSeats: Purchase? {
        transactions.dropLast().last.flatMap { added in
            added.sharesPeriod && added.revocation == nil && added.expiresDate == purchase?.expiresDate ? added : nil
        }
    }

    /// Before this no renewal can be dated. Apple charges one up to a day before its date, so that receivers count it as
    /// that much older, and it would be older than the purchase before it. Only a period that was cut short by command ends
    /// earlier.
    var earliestRenewal: Date {
        guard let purchase, purchase.reason == .purchase else { return .distantPast }
        return purchase.purchaseDate.adding(customer.app.environment == .production ? timeScale.earlyCharge : 60)
    }

    /// Applies an event.
    /// - Parameters:
    ///   - date: later than ``now``, not earlier than the event permits (see ``EventGenerator``).
    ///   - product: the product that is bought or changed to; other events ignore it.
    ///   - offer: applies to it.
    /// - Returns: the payload that Apple would send; nil, and nothing changes, if the event is not permitted now.
    mutating func apply(
        _ event: LifecycleEvent, at date: Date, product: Product, offer: Offer? = nil, identities: inout Identities
    ) -> EventPayload? {
        guard permits(event, at: date), date > now else { return nil }
        let (before, booked) = (access, book)
        let shown = change(event, at: date, product: product, offer: offer, identities: &identities)
        now = date
        var payload = payload(event.kind, showing: shown, identities: &identities)
        if event == .unclaimSeats { payload.object = unclaimedSeat(identities: &identities) }
        if access != before { payload.access = access.periods }
        keepBook(since: booked, in: &payload)
        return payload
    }

    /// The developer extends the current period.
    /// - Returns: the payload that Apple would send; nil, and nothing changes, unless the subscription is active.
    mutating func extend(by seconds: TimeInterval, at date: Date, identities: inout Identities) -> EventPayload? {
        guard phase == .active, date > now, purchase?.expiresDate != nil, addedSeats == nil else { return nil }
        let booked = book
        extend(by: seconds)
        now = date
        var payload = payload(.extended, identities: &identities)
        payload.access = access.periods
        keepBook(since: booked, in: &payload)
        return payload
    }

    private mutating func keepBook(since booked: ChargeBook, in payload: inout EventPayload) {
        guard customer.ownership == .purchased else { return }
        book.periods = access.periods
        if book != booked { payload.book = book }
    }

    /// A payload that changes nothing.
    /// - Returns: nil unless the date is later than ``now``.
    mutating func announce(
        _ kind: NotificationKind, at date: Date, identities: inout Identities
    ) -> EventPayload? {
        guard date > now else { return nil }
        now = date
        return payload(kind, identities: &identities)
    }

    /// The payload of a request that has changed a transaction.
    mutating func announce(
        _ kind: NotificationKind, showing shown: String, at date: Date, since booked: ChargeBook, isAccessChanged: Bool,
        identities: inout Identities
    ) -> EventPayload {
        now = date
        var payload = payload(kind, showing: shown, identities: &identities)
        if isAccessChanged { payload.access = access.periods }
        keepBook(since: booked, in: &payload)
        return payload
    }

    /// Sets the account of the purchase from now on.
    mutating func assign(_ appAccountToken: UUID) { customer.appAccountToken = appAccountToken }

    /// The developer sent consumption information.
    mutating func answerConsumptionRequest(of transactionId: String) {
        if refundRequest?.transactionId == transactionId { refundRequest?.isAnswered = true }
    }

    private func payload(
        _ kind: NotificationKind, showing shown: String? = nil, identities: inout Identities
    ) -> EventPayload {
        // In a refund flow the transaction is the refunded one; status and renewal info are of now.
        let transaction = shown.flatMap { id in transactions.last { $0.transactionId == id } } ?? purchase
        var renewal = renewal
        // A period that was charged early does not run yet: the renewal info names the product that runs.
        if hasRenewedEarly(at: now), let running = transactions.dropLast().last { renewal?.product = running.product }
        return EventPayload(
            uuid: identities.uuid(), kind: kind, app: customer.app, customer: customer, signedDate: now,
            status: status, purchase: transaction, renewal: renewal)
    }

    private func unclaimedSeat(identities: inout Identities) -> EventPayload.Object {
        .other(
            name: "unclaimInfo",
            members: #""originalTransactionId":"\#(purchase?.originalTransactionId ?? "")","unclaimSeatIds":["#
                + #""\#(identities.uuid().uuidString.lowercased())"]"#)
    }

    /// Apple's `status`; nil for a one-time purchase.
    var status: Int? {
        switch phase {
        case .notBought, .owned: nil
        case .active: 1
        case .expired: 2
        case .billingRetry: 3
        // Announced the day before, the paid period still runs.
        case .grace: now < (purchase?.expiresDate ?? now).adding(-timeScale.earlyCharge / 2) ? 1 : 4
        case .revoked: renewal == nil ? nil : 5
        }
    }
}

// MARK: Permitted events

extension SimulatedPurchase {
    /// Whether the sandbox renews it no more, as it does after some renewals.
    var isOverInSandbox: Bool { customer.app.environment != .production && renewals >= timeScale.sandboxRenewals }

    /// Whether the account is one of the sandbox whose renewals cannot be charged any more.
    var chargesFail: Bool {
        guard case .renewalsFail(let count) = customer.quirk else { return false }
        return renewals >= count
    }

    /// Whether an event is permitted.
    /// - Parameter date: not before the newest event.
    func permits(_ event: LifecycleEvent, at date: Date) -> Bool {
        let hasRenewedEarly = hasRenewedEarly(at: date)
        let willRenew = renewal?.willRenew ?? false
        let isBuyer = customer.ownership == .purchased
        // Within a commitment only what follows it can be switched off, and a lower product waits until it ends.
        let isCommitted = purchase?.commitment.map { !$0.isLast } ?? false
        let isCancelled = renewal?.commitmentWillRenew == false
        return switch (event, phase) {
        case (.subscribe, .notBought), (.buy, .notBought): true
        case (.renew, .active), (.renewInANewWay, .active): willRenew && !hasRenewedEarly && !chargesFail
        case (.failToRenew, .active), (.failToRenewWithGrace, .active): !hasRenewedEarly && mayFail(event)
        case (.turnRenewalOff, .active): willRenew && !isCancelled && customer.quirk != .cannotCancel
        case (.turnRenewalOn, .active): !willRenew || isCancelled
        case (.upgrade, .active), (.redeemOfferAndUpgrade, .active):
            isBuyer && willRenew && !higherProducts.isEmpty
        case (.crossgrade, .active): isBuyer && willRenew && !equalProducts.isEmpty
        case (.downgrade, .active), (.redeemOfferAndDowngrade, .active):
            isBuyer && willRenew && !isCommitted && !hasOtherNextProduct && !lowerProducts.isEmpty
        case (.keepProduct, .active): willRenew && hasOtherNextProduct
        case (.redeemOffer, .active): isBuyer && willRenew && renewal?.nextOffer == nil
        case (.announcePriceIncrease, .active), (.raisePrice, .active):
            isBuyer && willRenew && renewal?.priceIncreaseStatus == nil
        case (.acceptPriceIncrease, .active): willRenew && renewal?.priceIncreaseStatus == 0
        case (.outliveGrace, .grace): true
        case (.recover, .grace), (.recover, .billingRetry): true
        case (.expireVoluntarily, .active), (.expireOtherwise, .active), (.expireProductNotForSale, .active):
            !willRenew
        case (.expireAfterPriceIncrease, .active): renewal?.priceIncreaseStatus == 0
        case (.expireInBillingRetry, .billingRetry): true
        case (.resubscribe, .expired): true
        case (.resubscribe, .revoked): renewal != nil
        case (.requestRefund, .active), (.requestRefund, .owned): isBuyer && refundRequest == nil && !hasRenewedEarly
        case (.requestRefundOfEarlierPeriod, .active):
            isBuyer && refundRequest == nil && earlierPurchase != nil && !hasRenewedEarly
        case (.repeatConsumptionRequest, .active), (.repeatConsumptionRequest, .owned):
            refundRequest.map { !$0.isAnswered } ?? false
        case (.declineRefund, .active), (.declineRefund, .owned): refundRequest != nil
        case (.refund, .active), (.refund, .owned):
            // While added seats stand, the period stands: Apple refunds either all of its transactions or seats.
            isBuyer && !hasRenewedEarly && addedSeats == nil
        case (.refund, .expired): isBuyer && purchase?.revocation == nil
        case (.refundEarlierPeriod, .active), (.refundEarlierPeriod, .expired):
            isBuyer && refundRequest == nil && earlierPurchase != nil && !hasRenewedEarly
        case (.reverseRefund, .revoked): isBuyer
        case (.extend, .active), (.failToExtend, .active): isBuyer && !hasRenewedEarly && addedSeats == nil
        case (.revoke, .active), (.revoke, .owned), (.revoke, .grace): !isBuyer
        case (.addSeats, .active):
            isBuyer && willRenew && purchase?.product.seats != nil && purchase?.sharesPeriod == false
                && !hasRenewedEarly
        case (.refundSeats, .active):
            isBuyer && purchase?.product.seats != nil && purchase?.revokedSeats == 0 && !hasRenewedEarly
        case (.unclaimSeats, .active): isBuyer && purchase?.product.seats != nil
        case (.updateMetadata, .active), (.migrate, .active), (.changePrice, .active), (.somethingNew, .active): true
        default: false
        }
    }

    private func mayFail(_ event: LifecycleEvent) -> Bool {
        // Apple gives no grace within a commitment.
        let isGraceOn =
            purchase?.commitment == nil && purchase?.product.period.flatMap { timeScale.grace(of: $0) } != nil
        return (renewal?.willRenew ?? false) && (event == .failToRenew || isGraceOn)
    }

    /// Whether the next period has been charged and not begun.
    func hasRenewedEarly(at date: Date) -> Bool { purchase.map { $0.purchaseDate > date } ?? false }

    /// Products of a higher level in the same group.
    var higherProducts: [Product] { products { $0.level > $1.level } }

    /// Products of the same level and period.
    var equalProducts: [Product] { products { $0 != $1 && $0.level == $1.level && $0.period == $1.period } }

    /// Products of a lower level, or of the same level with another period.
    var lowerProducts: [Product] {
        products { $0.level < $1.level || ($0.level == $1.level && $0.period != $1.period) }
    }

    var hasOtherNextProduct: Bool { renewal.map { $0.nextProduct != $0.product } ?? false }

    private func products(_ isWanted: (Product, Product) -> Bool) -> [Product] {
        guard let owned = renewal?.product else { return [] }
        return group.filter { isWanted($0, owned) }
    }

    /// All subscriptions of the group of the subscription, itself included.
    var group: [Product] {
        guard let owned = renewal?.product else { return [] }
        return catalogue.isEmpty ? owned.siblings : catalogue.filter { $0.group == owned.group }
    }
}
