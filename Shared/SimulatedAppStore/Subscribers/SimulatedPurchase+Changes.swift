import struct Foundation.Date
import typealias Foundation.TimeInterval

/// What each event changes.
extension SimulatedPurchase {
    /// - Returns: the transaction that the notification shows, where it is not the newest.
    mutating func change(
        _ event: LifecycleEvent, at date: Date, product: Product, offer: Offer?, identities: inout Identities
    ) -> String? {
        switch event {
        case .subscribe, .buy: begin(product, at: date, offer: offer, identities: &identities)
        case .resubscribe: beginAgain(product, at: date, offer: offer, identities: &identities)
        case .upgrade, .crossgrade, .redeemOfferAndUpgrade:
            replace(with: product, at: date, offer: offer, identities: &identities)
        case .renew, .renewInANewWay: renew(from: purchase?.expiresDate ?? date, identities: &identities)
        case .recover: recover(at: date, identities: &identities)
        case .turnRenewalOff: turnRenewal(on: false)
        case .turnRenewalOn: turnRenewal(on: true)
        case .downgrade: renew(to: product)
        case .redeemOfferAndDowngrade:
            renew(to: product)
            renewal?.nextOffer = offer
        case .redeemOffer: renewal?.nextOffer = offer
        case .keepProduct: if let owned = renewal?.product { renew(to: owned) }
        case .announcePriceIncrease: raisePrice(consent: 0)
        case .acceptPriceIncrease: renewal?.priceIncreaseStatus = 1
        case .raisePrice: raisePrice(consent: 1)
        case .changePrice:
            useCommerce()
            raisePrice(consent: renewal?.priceIncreaseStatus)
        case .updateMetadata, .migrate: useCommerce()
        case .failToRenew: fail()
        case .failToRenewWithGrace: failWithGrace(at: date)
        case .outliveGrace: outliveGrace(at: date)
        case .expireVoluntarily: expire(intent: 1)
        case .expireInBillingRetry: expire(intent: 2)
        case .expireAfterPriceIncrease: expire(intent: 3)
        case .expireProductNotForSale: expire(intent: 4)
        case .expireOtherwise: expire(intent: 5)
        case .requestRefund: requestRefund(of: purchase, at: date)
        case .requestRefundOfEarlierPeriod: requestRefund(of: earlierPurchase, at: date)
        case .declineRefund: return endRefundRequest()
        case .refund, .refundEarlierPeriod: return refund(event, at: date)
        case .reverseRefund: reverseRefund(at: date)
        case .extend: extend(by: timeScale.scaled(7 * 86_400))
        case .revoke: revoke(at: date)
        case .addSeats: return addSeats(at: date, identities: &identities)
        case .refundSeats: refundSeats()
        case .repeatConsumptionRequest, .failToExtend, .unclaimSeats, .somethingNew: break
        }
        return event.isAboutTheRefund ? refundRequest?.transactionId : nil
    }

    private mutating func begin(_ product: Product, at date: Date, offer: Offer?, identities: inout Identities) {
        let environment = customer.app.environment
        let id = identities.transactionId(in: environment)
        var purchase = Purchase(
            originalTransactionId: id, transactionId: id,
            webOrderLineItemId: product.isSubscription ? identities.webOrderLineItemId(in: environment) : nil,
            product: product, purchaseDate: date, originalPurchaseDate: date,
            expiresDate: end(of: product, offer, from: date), reason: .purchase,
            price: offer?.price(of: product) ?? product.price,
            quantity: product.seats ?? (product.kind == .consumable ? 1 + Int64(now.milliseconds % 3) : 1), offer: offer
        )
        purchase.commitment = commitment(of: product, after: nil, from: date)
        if product.isGeneric { purchase.commerce = Commerce(of: purchase) }
        transactions = [purchase]
        book.charge(purchase)
        // A consumable gives no access.
        if product.kind != .consumable { access.grant(purchase) }
        guard product.isSubscription else {
            phase = .owned
            return
        }
        renewal = Renewal(
            product: product, nextProduct: product, willRenew: true, date: purchase.expiresDate,
            isInBillingRetry: false, recentStartDate: date)
        if purchase.commitment != nil { renewal?.commitmentWillRenew = true }
        phase = .active
    }

    private mutating func beginAgain(_ product: Product, at date: Date, offer: Offer?, identities: inout Identities) {
        let end = purchase?.expiresDate ?? date
        if date.timeIntervalSince(end) > timeScale.recentGap { renewal?.recentStartDate = date }
        renewals = 0
        charge(product, from: date, reason: .purchase, offer: offer, identities: &identities)
    }

    /// Another product takes effect at once: the paid period ends, and with it a period that was charged early.
    private mutating func replace(with product: Product, at date: Date, offer: Offer?, identities: inout Identities) {
        for place in transactions.indices where transactions[place].expiresDate.map({ $0 > date }) ?? false {
            transactions[place].isUpgraded = true
        }
        access.end(at: date)
        charge(product, from: date, reason: .purchase, offer: offer, identities: &identities)
    }

    private mutating func renew(from date: Date, identities: inout Identities) {
        guard let next = renewal?.nextProduct else { return }
        renewals += 1
        charge(next, from: date, reason: .renewal, offer: renewal?.nextOffer, identities: &identities)
    }

    /// In grace the period continues where the last one ended, unless an offer's period would be over by now; after grace a
    /// period begins with the charge.
    private mutating func recover(at date: Date, identities: inout Identities) {
        if case .grace = phase, let paidEnd = purchase?.expiresDate, let renewal,
            let next = end(of: renewal.nextProduct, renewal.nextOffer, from: paidEnd), date < next,
            paidEnd >= earliestRenewal
        {
            renew(from: paidEnd, identities: &identities)
        } else {
            access.end(at: date)
            renew(from: date, identities: &identities)
        }
    }

    private mutating func charge(
        _ product: Product, from date: Date, reason: Purchase.Reason, offer: Offer?, identities: inout Identities
    ) {
        guard let first = transactions.first else { return }
        let environment = customer.app.environment
        let price = reason == .renewal ? renewal?.nextPrice : nil
        var purchase = Purchase(
            originalTransactionId: first.originalTransactionId,
            transactionId: identities.transactionId(in: environment),
            webOrderLineItemId: identities.webOrderLineItemId(in: environment), product: product, purchaseDate: date,
            originalPurchaseDate: first.originalPurchaseDate, expiresDate: end(of: product, offer, from: date),
            reason: reason, price: offer?.price(of: product) ?? price ?? product.price,
            quantity: product.seats.map { reason == .renewal ? seats : $0 } ?? 1, offer: offer)
        let earlier = reason == .renewal ? self.purchase?.commitment : nil
        purchase.commitment = commitment(of: product, after: earlier, from: date)
        let isCancelled = earlier?.isLast == false && renewal?.commitmentWillRenew == false
        if let commerce = self.purchase?.commerce {
            let isContinued = reason == .renewal && self.purchase?.product == product
            purchase.commerce = isContinued ? commerce.renewed : Commerce(of: purchase)
        }
        transactions.append(purchase)
        book.charge(purchase)
        access.grant(purchase)
        renewal = Renewal(
            product: product, nextProduct: product, willRenew: true, date: purchase.expiresDate,
            isInBillingRetry: false, recentStartDate: renewal?.recentStartDate ?? date)
        // A subscriber stays at the price that was changed to.
        renewal?.nextPrice = price
        if purchase.commitment != nil {
            renewal?.commitmentWillRenew = true
            if isCancelled { turnRenewal(on: false) }
        }
        refundRequest = nil
        phase = .active
    }

    /// The payment that begins at a date. What is paid late moves the end of the commitment.
    private func commitment(
        of product: Product, after earlier: Purchase.Commitment?, from date: Date
    ) -> Purchase.Commitment? {
        guard product.hasCommitment, let period = product.period else { return nil }
        let number = earlier.map { $0.isLast ? 1 : $0.number + 1 } ?? 1
        let end = (number...Purchase.Commitment.payments).reduce(date) { end, _ in timeScale.end(of: period, from: end)
        }
        // Never earlier, though a period was cut short by command.
        let bound = number > 1 ? earlier?.expiresDate : nil
        return Purchase.Commitment(number: number, expiresDate: max(end, bound ?? end))
    }

    /// Within a commitment its remaining payments go on, in the sandbox as long as anything renews there.
    private mutating func turnRenewal(on isOn: Bool) {
        if let commitment = purchase?.commitment {
            renewal?.commitmentWillRenew = isOn
            if !commitment.isLast, !isOverInSandbox { return }
        }
        renewal?.willRenew = isOn
    }

    private func end(of product: Product, _ offer: Offer?, from date: Date) -> Date? {
        product.period.map { timeScale.end(of: offer?.period ?? $0, from: date) }
    }

    private mutating func raisePrice(consent: Int64?) {
        guard let next = renewal?.nextProduct else { return }
        renewal?.priceIncreaseStatus = consent
        let price = renewal?.nextPrice ?? next.price
        renewal?.nextPrice = price + 1_000
        if let place = transactions.indices.last { transactions[place].commerce?.raisePrice() }
    }

    /// Takes the purchase for one of Advanced Commerce from now on.
    private mutating func useCommerce() {
        guard let place = transactions.indices.last, transactions[place].commerce == nil else { return }
        transactions[place].commerce = Commerce(of: transactions[place], renewal: renewal)
    }

    /// The next period is of this product, at the price that the customer has paid for it, else at that of the product.
    private mutating func renew(to product: Product) {
        renewal?.nextProduct = product
        if let place = transactions.indices.last { transactions[place].commerce?.keepPrices() }
        let paid = transactions.last { $0.product == product && $0.offer == nil }?.price
        renewal?.nextPrice = paid == product.price ? nil : paid
    }

    private mutating func fail() {
        renewal?.isInBillingRetry = true
        renewal?.expirationIntent = 2
        phase = .billingRetry(
            until: (purchase?.expiresDate ?? now)
                .adding(timeScale.billingRetry(isCommitted: purchase?.commitment != nil)))
    }

    private mutating func failWithGrace(at date: Date) {
        guard let purchase, let paidEnd = purchase.expiresDate, let period = purchase.product.period,
            let grace = timeScale.grace(of: period)
        else { return }
        let end = paidEnd.adding(grace)
        // Announced before the end of the period, Apple says that it does not retry yet.
        renewal?.isInBillingRetry = date >= paidEnd
        renewal?.graceExpiresDate = end
        renewal?.expirationIntent = 2
        access.allowGrace(for: purchase.product, from: paidEnd, until: end)
        phase = .grace(until: end)
    }

    private mutating func outliveGrace(at date: Date) {
        renewal?.isInBillingRetry = true
        phase = .billingRetry(until: (purchase?.expiresDate ?? date).adding(timeScale.billingRetry(isCommitted: false)))
    }

    private mutating func expire(intent: Int) {
        renewal?.willRenew = false
        if renewal?.commitmentWillRenew != nil { renewal?.commitmentWillRenew = false }
        renewal?.isInBillingRetry = false
        renewal?.graceExpiresDate = nil
        renewal?.expirationIntent = intent
        renewal?.winBackOffers = intent == 1 ? Offer.winBack.identifier.map { [$0] } ?? [] : []
        refundRequest = nil
        phase = .expired
    }

    private mutating func requestRefund(of purchase: Purchase?, at date: Date) {
        guard let purchase else { return }
        refundRequest = RefundRequest(transactionId: purchase.transactionId, requestedAt: date)
    }

    private mutating func endRefundRequest() -> String? {
        defer { refundRequest = nil }
        return refundRequest?.transactionId
    }

    private mutating func refund(_ event: LifecycleEvent, at date: Date) -> String? {
        let isAskedFor = refundRequest != nil
        let unasked = event == .refund ? purchase?.transactionId : earlierPurchase?.transactionId
        guard let id = endRefundRequest() ?? unasked,
            let place = transactions.lastIndex(where: { $0.transactionId == id })
        else { return nil }
        // Prorated now and then: the days that were left.
        let isProrated =
            transactions[place].product.isSubscription && transactions[place].commerce == nil
            && date.milliseconds % 4 == 0
        let revocation = Purchase.Revocation(
            date: date, reason: isAskedFor ? 1 : 0, type: isProrated ? .refundProrated : .refundFull,
            percentage: isProrated ? 40_000 : 100_000)
        transactions[place].revocation = revocation
        transactions[place].commerce?.refund(reason: isAskedFor ? "FULFILLMENT_ISSUE" : "OTHER", at: date)
        book.refund(id, revocation)
        access.refund(id, at: date)
        if place == transactions.count - 1 {
            renewal?.willRenew = false
            phase = .revoked
        }
        return id
    }

    /// The customer gets back the access; the renewal date did not move meanwhile.
    private mutating func reverseRefund(at date: Date) {
        guard let place = transactions.indices.last else { return }
        if let revokedAt = transactions[place].revocation?.date {
            transactions[place].commerce?.reverseRefund(at: revokedAt)
        }
        transactions[place].revocation = nil
        access.reverseRefund(of: transactions[place].transactionId)
        book.reverseRefund(of: transactions[place].transactionId)
        guard let end = transactions[place].expiresDate else {
            phase = .owned
            return
        }
        if end > date {
            phase = .active
        } else {
            phase = .expired
            if renewal?.expirationIntent == nil { renewal?.expirationIntent = 1 }
        }
    }

    mutating func extend(by seconds: TimeInterval) {
        guard let place = transactions.indices.last, let end = transactions[place].expiresDate else { return }
        let later = end.adding(seconds)
        transactions[place].expiresDate = later
        renewal?.date = later
        access.extend(transactions[place].transactionId, until: later)
        book.extend(transactions[place].transactionId, until: later)
    }

    /// Seats take effect at once: another transaction represents the period, and the one that began it stays the newest of
    /// those that renew.
    private mutating func addSeats(at date: Date, identities: inout Identities) -> String? {
        guard let place = transactions.indices.last else { return nil }
        transactions[place].sharesPeriod = true
        var added = transactions[place]
        added.transactionId = identities.transactionId(in: customer.app.environment)
        added.webOrderLineItemId = identities.webOrderLineItemId(in: customer.app.environment)
        added.purchaseDate = date
        added.reason = .purchase
        added.quantity = 2
        added.offer = nil
        added.revokedSeats = 0
        book.charge(added, forSeatsOf: transactions[place].transactionId)
        transactions.insert(added, at: place)
        return added.transactionId
    }

    private mutating func refundSeats() {
        guard let place = transactions.indices.last else { return }
        transactions[place].revokedSeats = 1
    }

    /// All seats of the current period.
    private var seats: Int64 {
        [purchase, addedSeats].reduce(0) { $0 + ($1.map { $0.quantity - $0.revokedSeats } ?? 0) }
    }

    private mutating func revoke(at date: Date) {
        guard let place = transactions.indices.last else { return }
        transactions[place].revocation = Purchase.Revocation(
            date: date, reason: 0, type: customer.ownership == .assigned ? .assignmentRevoke : .familyRevoke)
        access.end(at: date)
        renewal?.willRenew = false
        phase = .revoked
    }
}

extension LifecycleEvent {
    /// Whether the notification shows the transaction of the refund request.
    fileprivate var isAboutTheRefund: Bool {
        switch self {
        case .requestRefund, .requestRefundOfEarlierPeriod, .repeatConsumptionRequest: true
        default: false
        }
    }
}
