import AppStore
import Contracts

import struct Foundation.Date
import struct Foundation.UUID

/// Purchases that a person makes by command, beside the random ones.
///
/// They have the events that the person triggers, and those that time brings: renewals, and the end of what is not paid.
struct ManualPurchases: Sendable {
    private var random: SeededRandom
    private var identities: Identities
    /// In the order in which they were made.
    private(set) var all: [SimulatedPurchase] = []
    /// When time brings the next event; nil where none follows.
    private var nextDate: Date?
    /// Of the signed offers that were bought with.
    private var usedNonces: Set<String> = []

    /// - Parameter now: part of the ids, see ``Identities``.
    init(seed: UInt64, now: Date) {
        random = SeededRandom(seed: seed ^ 0x5DEE_CE66_D1CE_4E5B)
        identities = Identities(seed: seed ^ 0x2545_F491_4F6C_DD1D, now: now)
    }

    /// Who buys, as a command names them.
    struct Buyer: Sendable {
        var app: App
        /// Nil where the app sets none.
        var appAccountToken: UUID?
        /// What the app sells; empty is the simulator's own products.
        var catalogue: [Product] = []
        /// Whether the purchase is another family member's, which Apple shares with this customer.
        var isFamilyShared = false
        /// Whether the customer ordered the app before its release.
        var hasPreordered = false
        /// Nil where the account is as it was, or as all others.
        var quirk: Customer.SandboxQuirk?
    }

    /// The customer buys; one whose subscription of the same group is over subscribes again, under the same
    /// `originalTransactionId`.
    ///
    /// With an offer, an active subscription of the group changes to the product, or renews with the offer.
    /// - Parameters:
    ///   - signed: nil without a signed offer.
    ///   - offerCode: one that the customer redeems by subscribing.
    /// - Throws: ``SimulatorError`` where the account has an active subscription of the same group: Apple sells one of each;
    ///   where the code is for something else than a subscription; where the signed offer is another customer's, or was
    ///   bought with before; and where there are both.
    mutating func buy(
        _ product: Product, for buyer: Buyer, with signed: SignedOffer? = nil, offerCode: String? = nil,
        timeScale: TimeScale, at date: Date
    ) throws -> EventPayload {
        guard signed == nil || offerCode == nil else {
            throw SimulatorError("a purchase has one offer: leave out the offer code or the signed offer")
        }
        if let signed { try check(signed, for: buyer) }
        let offer = try offerCode.map { try redeemed($0, with: product, for: buyer) } ?? signed?.offer
        let payload = try buy(product, for: buyer, offer, timeScale: timeScale, at: date)
        if let signed { usedNonces.insert(signed.nonce) }
        return payload
    }

    private func redeemed(_ code: String, with product: Product, for buyer: Buyer) throws -> Offer {
        guard product.isSubscription, !buyer.isFamilyShared else {
            throw SimulatorError(
                "the offer code \(code) is redeemed with a subscription of the customer's own; "
                    + "\(product.id(in: buyer.app.bundleId)) is none")
        }
        return Offer.code(code)
    }

    private mutating func buy(
        _ product: Product, for buyer: Buyer, _ offer: Offer?, timeScale: TimeScale, at date: Date
    ) throws -> EventPayload {
        if product.isSubscription, !buyer.isFamilyShared, buyer.appAccountToken != nil,
            let place = all.lastIndex(where: {
                $0.customer.app == buyer.app && $0.customer.appAccountToken == buyer.appAccountToken
                    && $0.renewal?.product.group == product.group
            })
        {
            let moment = max(date, all[place].now.adding(0.001))
            // An introductory offer begins a subscription; all others are redeemed within one, too.
            let isRedeemable = offer.map { $0.kind != .introductory } ?? false
            let event = (isRedeemable ? all[place].redemption(with: product) : nil) ?? .resubscribe
            guard
                let payload = all[place].apply(
                    event, at: moment, product: product, offer: offer, identities: &identities)
            else {
                let owned = all[place].renewal?.product.id(in: buyer.app.bundleId) ?? ""
                let id = all[place].purchase?.originalTransactionId ?? ""
                throw SimulatorError(
                    "the account has \(owned) of the same subscription group as purchase \(id), and Apple sells one of a "
                        + "group: change it (trigger DID_CHANGE_RENEWAL_PREF --purchase \(id) --product …), end it (trigger "
                        + "REFUND), or buy for another account")
            }
            updateNextDate()
            return payload
        }
        var purchase = SimulatedPurchase(
            of: customer(for: buyer, at: date), timeScale: timeScale, beginning: date.adding(-0.001))
        purchase.catalogue = buyer.catalogue
        let event: LifecycleEvent = product.isSubscription ? .subscribe : .buy
        guard let payload = purchase.apply(event, at: date, product: product, offer: offer, identities: &identities)
        else { preconditionFailure("a first purchase is always permitted") }
        all.append(purchase)
        updateNextDate()
        return payload
    }

    /// What the App Store knows beside the signature.
    private func check(_ signed: SignedOffer, for buyer: Buyer) throws {
        guard !usedNonces.contains(signed.nonce) else {
            throw OfferCheck.invalid("the nonce \(signed.nonce) was used before: sign each offer with a new one")
        }
        guard let id = signed.transactionId else { return }
        let customer = known(buyer)?.appTransactionId
        let isOwn = all.contains { purchase in
            purchase.customer.app == buyer.app && purchase.customer.appTransactionId == customer
                && (customer == id || purchase.transactions.contains { $0.transactionId == id })
        }
        guard isOwn else { throw OfferCheck.invalid("\(id) is no transaction of the customer who buys") }
    }

    /// Who bought for the account before.
    private func known(_ buyer: Buyer) -> Customer? {
        all.last {
            buyer.appAccountToken != nil && $0.customer.app == buyer.app
                && $0.customer.appAccountToken == buyer.appAccountToken
        }?.customer
    }

    /// Purchases of one account of an app are those of one Apple account.
    private mutating func customer(for buyer: Buyer, at date: Date) -> Customer {
        let preorderDate = buyer.hasPreordered ? date.adding(-30 * 86_400) : nil
        if var customer = known(buyer) {
            customer.preorderDate = preorderDate ?? customer.preorderDate
            customer.quirk = buyer.quirk ?? customer.quirk
            return customer
        }
        var customer = Customer(of: buyer.app, random: &random, identities: &identities)
        customer.appAccountToken = buyer.appAccountToken
        customer.preorderDate = preorderDate
        customer.quirk = buyer.quirk
        return buyer.isFamilyShared ? customer.sharing(.familyShared, identities: &identities) : customer
    }

    /// Lets one of Apple's events happen now. What Apple sends at the end of a period ends the period now; a renewal is charged
    /// early, as Apple does up to a day before.
    /// - Parameters:
    ///   - subtype: nil is any.
    ///   - id: of any transaction of the purchase.
    ///   - product: what the customer changes to; nil is the nearest that fits.
    ///   - offerCode: one that the customer redeems, where the event is the redemption of an offer; nil is a promotional offer.
    /// - Throws: ``SimulatorError`` that names what exists where the type, the purchase or the product does not, and what is
    ///   possible where the event cannot follow.
    mutating func trigger(
        _ type: String, subtype: String? = nil, purchase id: String, product: Product? = nil, offerCode: String? = nil,
        at date: Date
    ) throws -> EventPayload {
        let events = try LifecycleEvent.named(type, subtype)
        if offerCode != nil, !events.contains(where: \.takesOfferCode) {
            throw SimulatorError(
                "an offer code is redeemed by OFFER_REDEEMED or SUBSCRIBED RESUBSCRIBE, and by buying a subscription")
        }
        guard let place = place(of: id) else { throw unknown(id) }
        var purchase = all[place]
        let moment = max(date, purchase.now.adding(0.001))
        for event in events where purchase.permits(event, at: moment) {
            let moment = try event == .recover ? recovery(of: purchase, at: moment) : moment
            if event.endsPeriod { purchase.endPeriod(at: moment) }
            let target = try target(of: event, in: purchase, wanted: product)
            let offer: Offer? =
                switch event {
                case .redeemOffer, .redeemOfferAndUpgrade, .redeemOfferAndDowngrade:
                    offerCode.map(Offer.code) ?? Offer(kind: .promotional, payment: .payAsYouGo)
                default: event.takesOfferCode ? offerCode.map(Offer.code) : nil
                }
            guard
                var payload = purchase.apply(
                    event, at: moment, product: target, offer: offer, identities: &identities)
            else { continue }
            // The end of the period is of this event, too.
            if purchase.access != all[place].access { payload.access = purchase.access.periods }
            all[place] = purchase
            updateNextDate()
            return payload
        }
        var waiting = ""
        if purchase.hasRenewedEarly(at: moment), let begins = purchase.purchase?.purchaseDate,
            events.contains(where: { purchase.permits($0, at: begins) })
        {
            let ahead = SimulatedClock.argument(begins.timeIntervalSince(date))
            waiting = "it can once that period has begun: `simulator clock advance \(ahead)`; "
        }
        throw SimulatorError(
            "\(([type] + [subtype].compactMap(\.self)).joined(separator: " ")) cannot follow: \(purchase.summary(at: moment)); "
                + "\(waiting)possible now: \(purchase.possible(at: moment).joined(separator: ", "))")
    }

    /// When a failed charge can succeed: in the sandbox up to a minute later, by which the simulator's clock moves on.
    /// - Throws: ``SimulatorError`` in production, where it would be a day for all purchases of the simulator.
    private func recovery(of purchase: SimulatedPurchase, at date: Date) throws -> Date {
        let earliest = purchase.earliestRenewal
        guard date < earliest, purchase.customer.app.environment == .production else { return max(date, earliest) }
        throw SimulatorError(
            "DID_RENEW BILLING_RECOVERY cannot follow before \(earliest.formatted(.iso8601)): Apple charges a renewal up "
                + "to a day before its date, and none is that soon after a purchase; let a day pass by "
                + "`simulator clock advance 1d`")
    }

    /// The product that an event changes to.
    private func target(of event: LifecycleEvent, in purchase: SimulatedPurchase, wanted: Product?) throws -> Product {
        let fitting: [Product]? =
            switch event {
            case .upgrade, .redeemOfferAndUpgrade: purchase.higherProducts
            case .crossgrade: purchase.equalProducts
            case .downgrade, .redeemOfferAndDowngrade: purchase.lowerProducts
            case .resubscribe: purchase.group
            default: nil
            }
        guard let fitting else { return purchase.purchase?.product ?? Product.subscriptions[0] }
        guard let wanted else {
            let owned = purchase.renewal?.product
            return fitting.first { $0.period == owned?.period && event != .resubscribe } ?? owned.flatMap { owned in
                fitting.first { $0 == owned }
            } ?? fitting[0]
        }
        guard fitting.contains(wanted) else {
            let bundleId = purchase.customer.app.bundleId
            throw SimulatorError(
                "\(wanted.id(in: bundleId)) is no product that this event can change to; it can change to "
                    + fitting.map { $0.id(in: bundleId) }.joined(separator: ", "))
        }
        return wanted
    }

    /// The earliest event that time has brought and that was not taken yet; nil where there is none.
    mutating func next(now: Date) -> EventPayload? {
        while let date = nextDate, date <= now {
            let due = all.indices.compactMap { place in all[place].nextByTime.map { (place, $0.event, $0.date) } }
                .min { $0.2 < $1.2 }
            guard let (place, event, date) = due else { return nil }
            let product = all[place].purchase?.product ?? Product.subscriptions[0]
            let payload = all[place].apply(event, at: date, product: product, identities: &identities)
            updateNextDate()
            if let payload { return payload }
        }
        return nil
    }

    /// - Parameter id: of any transaction of it.
    func place(of id: String) -> Int? {
        all.firstIndex { $0.transactions.contains { $0.transactionId == id || $0.originalTransactionId == id } }
    }

    /// - Throws: ``SimulatorError`` that lists those that exist.
    func purchase(_ id: String) throws -> SimulatedPurchase {
        guard let place = place(of: id) else { throw unknown(id) }
        return all[place]
    }

    /// Changes a purchase, see ``Population``.
    mutating func change(
        _ place: Int, _ body: (inout SimulatedPurchase, inout Identities) -> EventPayload?
    ) -> EventPayload? {
        defer { updateNextDate() }
        return body(&all[place], &identities)
    }

    private func unknown(_ id: String) -> SimulatorError {
        let known = all.suffix(5).compactMap { purchase in
            purchase.purchase.map {
                "\($0.originalTransactionId) (\($0.product.id(in: purchase.customer.app.bundleId)))"
            }
        }
        return SimulatorError(
            "no purchase \(id) was made by `simulator buy`; "
                + (known.isEmpty
                    ? "none was made since the simulator started: buy one first"
                    : "the newest are \(known.joined(separator: ", ")); `simulator purchases` lists all"))
    }

    private mutating func updateNextDate() { nextDate = all.compactMap { $0.nextByTime?.date }.min() }
}

extension SimulatedPurchase {
    /// The event that time alone brings, and when; nil where none follows.
    var nextByTime: (event: LifecycleEvent, date: Date)? {
        let soonest = now.adding(0.001)
        switch phase {
        case .active:
            guard let end = purchase?.expiresDate else { return nil }
            guard renewal?.willRenew == true else { return (.expireVoluntarily, max(end, soonest)) }
            if renewal?.priceIncreaseStatus == 0 { return (.expireAfterPriceIncrease, max(end, soonest)) }
            // Apple charges up to a day before the end, so that access has no hole.
            let early = max(end.adding(-timeScale.earlyCharge / 2), soonest)
            if isOverInSandbox, permits(.turnRenewalOff, at: early) { return (.turnRenewalOff, early) }
            // A renewal that cannot be switched off, or off already behind the commitment, is charged no more.
            return isOverInSandbox || chargesFail ? (.failToRenew, max(end, soonest)) : (.renew, early)
        case .grace(let end): return (.outliveGrace, max(end, soonest))
        case .billingRetry(let end): return (.expireInBillingRetry, max(end, soonest))
        case .notBought, .expired, .revoked, .owned: return nil
        }
    }

    /// What a purchase with an offer does to an active subscription of the same group; nil where it does nothing.
    func redemption(with product: Product) -> LifecycleEvent? {
        guard phase == .active else { return nil }
        if product == renewal?.product { return .redeemOffer }
        if higherProducts.contains(product) { return .redeemOfferAndUpgrade }
        return lowerProducts.contains(product) ? .redeemOfferAndDowngrade : nil
    }

    /// The paid period ends now and not when it was to.
    mutating func endPeriod(at date: Date) {
        guard let place = transactions.indices.last, let end = transactions[place].expiresDate, end > date else {
            return
        }
        transactions[place].expiresDate = date
        renewal?.date = date
        access.end(at: date)
    }

    /// What is the case, for a message.
    func summary(at date: Date) -> String {
        let product = purchase.map { $0.product.id(in: customer.app.bundleId) } ?? "nothing"
        let state =
            switch phase {
            case .notBought: "is not bought"
            case .active where hasRenewedEarly(at: date):
                "was charged already for the period from \(purchase?.purchaseDate.formatted(.iso8601) ?? "")"
            case .active: renewal?.willRenew == true ? "is active and renews" : "is active and does not renew"
            case .grace: "is in its billing grace period"
            case .billingRetry: "is in billing retry"
            case .expired: "is expired"
            case .revoked: "is refunded or revoked"
            case .owned: "is bought, once and for all"
            }
        return "\(product) \(state)"
    }

    /// Types and subtypes that can follow.
    func possible(at date: Date) -> [String] {
        var names: [String] = []
        for event in LifecycleEvent.allCases where event.isDocumented && permits(event, at: date) {
            let name = event.kind.words
            if !names.contains(name) { names.append(name) }
        }
        return names
    }
}

extension LifecycleEvent {
    /// Whether Apple has the type and subtype today.
    var isDocumented: Bool { self != .somethingNew && self != .renewInANewWay }

    /// Whether Apple sends it at the end of a period, and access that was paid ends with it.
    var endsPeriod: Bool { waitsForExpiry && self != .renew && self != .renewInANewWay }

    /// Whether a customer can redeem an offer code with it.
    var takesOfferCode: Bool {
        switch self {
        case .redeemOffer, .redeemOfferAndUpgrade, .redeemOfferAndDowngrade, .resubscribe: true
        default: false
        }
    }

    /// The events of a type and subtype.
    /// - Throws: ``SimulatorError`` that names those that exist.
    static func named(_ type: String, _ subtype: String?) throws -> [LifecycleEvent] {
        let type = type.uppercased()
        let ofType = allCases.filter { $0.isDocumented && $0.kind.type.rawValue == type }
        guard !ofType.isEmpty else {
            var names: [String] = []
            for event in allCases where event.isDocumented {
                let name = event.kind.type.rawValue
                if !names.contains(name) { names.append(name) }
            }
            throw SimulatorError(
                "\(type) is no notification type about a purchase; there are \(names.joined(separator: ", "))")
        }
        guard let subtype = subtype?.uppercased() else {
            // What has no subtype is meant first; an end without one is Apple's word for an unknown reason.
            return ofType.filter { $0.kind.subtype == nil && $0 != .expireOtherwise }
                + ofType.filter { $0.kind.subtype != nil || $0 == .expireOtherwise }
        }
        let wanted = ofType.filter { $0.kind.subtype?.rawValue == subtype }
        guard wanted.isEmpty else { return wanted }
        var names: [String] = []
        for event in ofType {
            let name = event.kind.subtype?.rawValue ?? "none"
            if !names.contains(name) { names.append(name) }
        }
        throw SimulatorError("\(type) has no subtype \(subtype); its subtypes are \(names.joined(separator: ", "))")
    }
}

extension NotificationKind {
    /// `DID_RENEW` or `DID_RENEW BILLING_RECOVERY`.
    var words: String { ([type.rawValue] + [subtype?.rawValue].compactMap(\.self)).joined(separator: " ") }
}

extension Product {
    /// Everything that a simulated app sells.
    static let all = subscriptions + storage + [team, generic] + oneTime
}
