/// The scenarios by name.
extension Scenario {
    private static let basic = Product.subscriptions[1]
    private static let premium = Product.subscriptions[2]
    private static let committed = Product.subscriptions[9]

    private static func first(_ product: Product, actor: Int = 0, offer: Offer? = nil) -> Step {
        Step(
            event: product.isSubscription ? .subscribe : .buy, moment: .after(hours: 1), actor: actor,
            product: product, offer: offer)
    }

    private static func then(
        _ event: LifecycleEvent, hours: Double = 1, actor: Int = 0, _ product: Product? = nil, offer: Offer? = nil
    ) -> Step {
        Step(event: event, moment: .after(hours: hours), actor: actor, product: product, offer: offer)
    }

    private static func atEnd(_ event: LifecycleEvent, plusHours hours: Double = 1, actor: Int = 0) -> Step {
        Step(event: event, moment: .periodEnd(plusHours: hours), actor: actor)
    }

    /// All of them, in the order of `simulator scenarios`.
    static let all = mixed + advancedCommerce

    /// Those that are played among other purchases. What happens in the rest happens to those purchases anyway.
    static let mixed = renewals + commitments + changes + refunds + sharing + offers + oneTimePurchases

    static func named(_ name: String) -> Scenario? { all.first { $0.name == name } }

    private static let renewals = [
        Scenario(
            name: "early-renewal", summary: "Three renewals, each charged up to a day before its period begins.",
            steps: [
                first(basic), atEnd(.renew, plusHours: -20), atEnd(.renew, plusHours: -3),
                atEnd(.renew, plusHours: -23),
            ]),
        Scenario(
            name: "early-renewal-then-upgrade",
            summary: "The next period is charged early; before it begins, the customer upgrades.",
            steps: [first(basic), atEnd(.renew, plusHours: -20), then(.upgrade, hours: 5, premium), atEnd(.renew)]),
        Scenario(
            name: "early-grace",
            summary: "The failed charge is announced a few hours before the paid period ends; paid in grace.",
            steps: [first(basic), atEnd(.failToRenewWithGrace, plusHours: -6), atEnd(.recover, plusHours: 30)]),
        Scenario(
            name: "early-grace-while-active",
            summary: "The failed charge is announced so early that Apple still says status 1; never paid.",
            steps: [
                first(basic), atEnd(.failToRenewWithGrace, plusHours: -20),
                Step(event: .outliveGrace, moment: .graceEnd(plusHours: 1)),
                then(.expireInBillingRetry, hours: 44 * 24),
            ]),
        Scenario(
            name: "billing-retry-recovered", summary: "No grace; the payment succeeds in billing retry.",
            steps: [first(basic), atEnd(.failToRenew), then(.recover, hours: 90), atEnd(.renew)]),
        Scenario(
            name: "cancelled-and-back", summary: "Cancelled, expired, and resubscribed three months later.",
            steps: [
                first(basic), then(.turnRenewalOff, hours: 48), atEnd(.expireVoluntarily),
                then(.resubscribe, hours: 90 * 24, premium),
            ]),
        Scenario(
            name: "extended", summary: "The developer extends the period by a week.",
            steps: [first(basic), then(.extend, hours: 24), atEnd(.renew)]),
    ]

    private static let commitments = [
        Scenario(
            name: "commitment-cancelled",
            summary: "Twelve monthly payments, cancelled after the third: all are paid, then it expires.",
            steps: [first(committed), atEnd(.renew), atEnd(.renew), then(.turnRenewalOff, hours: 48)]
                + (4...12).map { _ in atEnd(.renew) } + [atEnd(.expireVoluntarily)]),
        Scenario(
            name: "commitment-paid-late",
            summary: "The second of twelve payments fails and succeeds 20 days later; the commitment ends later.",
            steps: [first(committed), atEnd(.failToRenew), then(.recover, hours: 20 * 24), atEnd(.renew)]),
        Scenario(
            name: "commitment-never-paid",
            summary: "The second of twelve payments fails for 90 days, and the commitment ends.",
            steps: [first(committed), atEnd(.failToRenew), then(.expireInBillingRetry, hours: 90 * 24)]),
    ]

    private static let changes = [
        Scenario(
            name: "upgrade-refunded", summary: "Upgraded, and the upgrade refunded an hour later.",
            steps: [first(basic), then(.upgrade, hours: 240, premium), then(.refund)]),
        Scenario(
            name: "downgrade-charged-early",
            summary: "A downgrade whose first period is charged 20 hours before it begins.",
            steps: [
                first(premium), then(.downgrade, hours: 24, basic), atEnd(.renew, plusHours: -20), atEnd(.renew),
            ]),
        Scenario(
            name: "crossgrade", summary: "To the same level and period, at once.",
            steps: [first(basic), then(.crossgrade, hours: 72, Product.subscriptions[5]), atEnd(.renew)]),
        Scenario(
            name: "price-increase-accepted", summary: "Asked for consent, given, renewed at the new price.",
            steps: [
                first(basic), then(.announcePriceIncrease, hours: 24), then(.acceptPriceIncrease, hours: 24),
                atEnd(.renew),
            ]),
        Scenario(
            name: "price-increase-refused", summary: "Asked for consent, never given, expired.",
            steps: [first(basic), then(.announcePriceIncrease, hours: 24), atEnd(.expireAfterPriceIncrease)]),
    ]

    private static let refunds = [
        Scenario(
            name: "refund-of-an-old-period",
            summary: "The period before is refunded; the current one continues.",
            steps: [first(basic), atEnd(.renew), then(.refundEarlierPeriod, hours: 48), atEnd(.renew)]),
        Scenario(
            name: "refund-asked-three-times",
            summary: "Apple asks for consumption information three times, then declines the refund.",
            steps: [
                first(basic), then(.requestRefund, hours: 24), then(.repeatConsumptionRequest, hours: 4),
                then(.repeatConsumptionRequest, hours: 4), then(.declineRefund, hours: 24), atEnd(.renew),
            ]),
        Scenario(
            name: "old-period-refund-declined",
            summary: "A refund of the period before is requested and declined; the subscription continues.",
            steps: [
                first(basic), atEnd(.renew), then(.requestRefundOfEarlierPeriod, hours: 24),
                then(.declineRefund, hours: 24), atEnd(.renew),
            ]),
        Scenario(
            name: "refund-reversed", summary: "Refunded, and the refund reversed three days later.",
            steps: [first(basic), then(.refund, hours: 24), then(.reverseRefund, hours: 72)]),
    ]

    private static let sharing = [
        Scenario(
            name: "family-member-leaves",
            summary: "A subscription shared with the family; the member leaves, the buyer continues.",
            cast: [Actor(), Actor(appleAccountOf: 0, ownership: .familyShared)],
            steps: [
                first(premium), first(premium, actor: 1), atEnd(.renew), atEnd(.renew, actor: 1),
                then(.revoke, hours: 72, actor: 1), atEnd(.renew),
            ]),
        Scenario(
            name: "own-and-shared", summary: "A customer's own lower subscription beside a family member's better one.",
            cast: [Actor(), Actor(appleAccountOf: 0, ownership: .familyShared)],
            steps: [first(basic), first(premium, actor: 1), atEnd(.renew), atEnd(.renew, actor: 1)]),
        Scenario(
            name: "two-accounts-one-apple-account",
            summary: "Two accounts of the app on one Apple account, each of which bought something of its own.",
            cast: [Actor(), Actor(appleAccountOf: 0, hasOwnToken: true)],
            steps: [first(basic), first(Product.storage[0], actor: 1), atEnd(.renew), atEnd(.renew, actor: 1)]),
        Scenario(
            name: "two-groups", summary: "One customer with a subscription in each of two groups.",
            cast: [Actor(), Actor(appleAccountOf: 0)],
            steps: [first(basic), first(Product.storage[1], actor: 1), atEnd(.renew), then(.turnRenewalOff, actor: 1)]),
        Scenario(
            name: "seats-unclaimed", summary: "A volume purchase of which a seat is unclaimed.",
            steps: [first(Product.team), then(.unclaimSeats, hours: 48), atEnd(.renew)]),
        Scenario(
            name: "seats-added-and-refunded",
            summary:
                "Seats are added to a volume purchase, and only they are refunded; later one seat of the purchase is.",
            steps: [
                first(Product.team), then(.addSeats, hours: 48), then(.refundEarlierPeriod, hours: 24),
                then(.refundSeats, hours: 24), atEnd(.renew),
            ]),
    ]

    private static let offers = [
        Scenario(
            name: "free-trial-converted", summary: "A free week, then paid periods.",
            steps: [first(basic, offer: .freeWeek), atEnd(.renew, plusHours: -5), atEnd(.renew)]),
        Scenario(
            name: "win-back", summary: "Cancelled and expired; a win-back offer brings the customer back.",
            steps: [
                first(basic), then(.turnRenewalOff, hours: 48), atEnd(.expireVoluntarily),
                then(.resubscribe, hours: 30 * 24, basic, offer: .winBack), atEnd(.renew),
            ]),
        Scenario(
            name: "offer-code-upgrade", summary: "An offer code redeemed for a better product, at once.",
            steps: [
                first(basic),
                then(
                    .redeemOfferAndUpgrade, hours: 24, premium,
                    offer: Offer(kind: .code, payment: .payUpFront, period: .threeMonths)),
                atEnd(.renew),
            ]),
    ]

    private static let oneTimePurchases = [
        Scenario(
            name: "consumable-refunded", summary: "Coins bought, and the money given back.",
            steps: [first(Product.consumables[0]), then(.requestRefund, hours: 5), then(.refund, hours: 20)]),
        Scenario(
            name: "unlocked-forever", summary: "A non-consumable.",
            steps: [first(Product.nonConsumable)]),
        Scenario(
            name: "season-pass", summary: "A non-renewing subscription, whose duration Apple does not know.",
            steps: [first(Product.nonRenewing)]),
    ]

    private static let advancedCommerce = [
        Scenario(
            name: "advanced-commerce",
            summary: "Migrated to Advanced Commerce; metadata and price change, and the renewal costs the new price.",
            steps: [
                first(basic), then(.migrate, hours: 24), then(.updateMetadata, hours: 24),
                then(.changePrice, hours: 24), atEnd(.renew),
            ]),
        Scenario(
            name: "advanced-commerce-refunded",
            summary: "A generic product of Advanced Commerce, renewed, requested back and refunded.",
            steps: [
                first(Product.generic), atEnd(.renew), then(.requestRefund, hours: 24), then(.refund, hours: 20),
            ]),
    ]
}
