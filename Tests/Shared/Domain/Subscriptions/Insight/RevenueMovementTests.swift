import Contracts
import Foundation
import Subscriptions
import Testing

@testable import TestSupport

/// What a purchase earns a month, by hand-computed cases. A month of 9.99 is 9990 milliunits.
@Suite struct RevenueMovementTests {
    // MARK: Values

    @Test(arguments: [
        // 1.99 × 365.25 / 84 = 8.65294…; RevenueCat: × 4.
        ("P1W", 1990, 8653, 7960), ("P7D", 1990, 8653, 7960),
        // 3.99 × 365.25 / 168 = 8.67468…; RevenueCat: × 2.
        ("P2W", 3990, 8675, 7980),
        // 0.99 × 365.25 / 36 = 10.044375; RevenueCat: × 10.
        ("P3D", 990, 10044, 9900), ("P1M", 9990, 9990, 9990), ("P2M", 8990, 4495, 4495),
        // 26.99 / 3 = 8.99666…
        ("P3M", 26_990, 8997, 8997), ("P6M", 99_990, 16_665, 16_665),
        // 79.99 / 12 = 6.66583…
        ("P1Y", 79_990, 6666, 6666), ("P12M", 79_990, 6666, 6666),
        // Halves up.
        ("P2M", 1, 1, 1), ("P1M", -5, 0, 0), ("P1W", Int64.max, 0, 0),
    ])
    func `The monthly value of a price is rounded once`(
        period: String, price: Int64, amount: Int64, revenueCat: Int64
    ) throws {
        let value = try #require(BillingPeriod(period)).monthly(price)
        #expect(value == MonthlyValue(amount: amount, revenueCatAmount: revenueCat))
    }

    @Test(arguments: ["", "P", "P0M", "PT1H", "P1M2D", "P121M", "3M", "P-1M", "Px"])
    func `A text that is no period of Apple's is none`(text: String) {
        #expect(BillingPeriod(text) == nil)
    }

    @Test(arguments: [
        (3.0, "P3D"), (7, "P1W"), (14, "P1W"), (28, "P1M"), (31, "P1M"), (59, "P2M"), (92, "P3M"), (184, "P6M"),
        (366, "P1Y"), (27.98, "P1M"),
    ])
    func `The length of a period is the longest of Apple's that fits`(days: Double, period: String) {
        #expect(Self.cells([Self.paid("1", from: 0, to: days)]).map(\.period) == [period])
    }

    @Test(arguments: [(3.0, "P1W"), (5, "P1M"), (10, "P2M"), (15, "P3M"), (30, "P6M"), (60, "P1Y")])
    func `The sandbox counts a month in five minutes`(minutes: Double, period: String) {
        #expect(Self.cells([Self.paid("1", from: 0, to: minutes / 1440)], .sandbox).map(\.period) == [period])
    }

    // MARK: Lives

    @Test func `A subscription at one price has two movements, whatever the number of its renewals`() {
        let months = (0..<12).map { Self.paid("\($0 + 1)", from: Double($0) * 30, to: Double($0 + 1) * 30) }
        #expect(Self.movements(months) == ["0 new 9990 +1", "360 churn -9990 -1"])
    }

    @Test func `A price change moves by the difference when the period begins`() {
        let changed = [Self.paid("1", to: 30), Self.paid("2", from: 30, to: 60, price: 12_990)]
        #expect(Self.movements(changed) == ["0 new 9990 +1", "30 expansion 3000", "60 churn -12990 -1"])
    }

    @Test func `A full refund is churn at the refund`() {
        var refunded = Self.paid("1", to: 30, signed: 10)
        refunded.revocationDate = Sample.day(10)
        refunded.revocationType = "REFUND_FULL"
        #expect(Self.movements([refunded]) == ["0 new 9990 +1", "10 churn -9990 -1"])
    }

    @Test func `A prorated refund is churn at the refund too, and one of a past period changes nothing`() {
        var refunded = Self.paid("1", to: 30, signed: 10)
        refunded.revocationDate = Sample.day(10)
        refunded.revocationType = "REFUND_PRORATED"
        refunded.revocationPercentage = 66_667
        #expect(Self.movements([refunded]) == ["0 new 9990 +1", "10 churn -9990 -1"])
        refunded.revocationDate = Sample.day(40)
        refunded.signedDate = Sample.day(40)
        let later = Self.paid("2", from: 30, to: 60, signed: 30)
        #expect(Self.movements([refunded, later]) == ["0 new 9990 +1", "60 churn -9990 -1"])
    }

    @Test func `An upgrade moves the amount between products, as one expansion`() {
        let upgraded = [
            Self.paid("1", to: 30), Self.paid("2", from: 10, to: 40, product: "platinum", price: 19_990, signed: 10),
        ]
        #expect(
            Self.movements(upgraded) == [
                "0 new 9990 +1", "10 expansion -9990 -1 gold", "10 expansion 19990 +1 platinum",
                "40 churn -19990 -1 platinum",
            ])
    }

    @Test func `A downgrade is a contraction at the renewal`() {
        let downgraded = [
            Self.paid("1", to: 30), Self.paid("2", from: 30, to: 60, product: "bronze", price: 4990, signed: 30),
        ]
        #expect(
            Self.movements(downgraded) == [
                "0 new 9990 +1", "30 contraction 4990 +1 bronze", "30 contraction -9990 -1 gold",
                "60 churn -4990 -1 bronze",
            ])
    }

    @Test func `A change to a product of the same price is an expansion of nothing`() {
        let changed = [Self.paid("1", to: 30), Self.paid("2", from: 10, to: 40, product: "silver", signed: 10)]
        #expect(
            Self.movements(changed) == [
                "0 new 9990 +1", "10 expansion -9990 -1 gold", "10 expansion 9990 +1 silver",
                "40 churn -9990 -1 silver",
            ])
    }

    @Test func `A change of the currency is a contraction in one and an expansion in the other`() {
        var dollars = Self.paid("2", from: 30, to: 60, price: 8990)
        dollars.currency = "USD"
        #expect(
            Self.movements([Self.paid("1", to: 30), dollars]) == [
                "0 new 9990 +1", "30 contraction -9990 -1", "30 expansion 8990 +1", "60 churn -8990 -1",
            ])
    }

    @Test func `An extension moves the churn and keeps the value`() {
        let extended = [Self.paid("1", to: 30), Self.paid("2", from: 30, to: 120, signed: 50)]
        #expect(Self.movements(extended) == ["0 new 9990 +1", "120 churn -9990 -1"])
    }

    @Test func `A period that Apple extended counts by the length that it had before, where that is known`() {
        let extended = [Self.paid("1", to: 28, signed: 3)]
        func lengths(_ nominalEnds: [String: Date]) -> [String] {
            Self.periods(extended, nominalEnds: nominalEnds).map(\.cell.period)
        }
        #expect(lengths([:]) == ["P1M"])
        #expect(lengths(["1": Sample.day(7)]) == ["P1W"])
        #expect(Self.periods(extended, nominalEnds: ["1": Sample.day(7)]).map(\.endsAt) == [Sample.day(28)])
        // An end that is not after the beginning, or later than the one that counts, says nothing.
        for day in [-1.0, 0, 40] { #expect(lengths(["1": Sample.day(day)]) == ["P1M"]) }
    }

    @Test(arguments: ["FAMILY_SHARED", "ASSIGNED"])
    func `What another purchase pays for earns nothing`(ownership: String) {
        var shared = Self.paid("1", to: 30)
        shared.ownership = ownership
        #expect(Self.movements([shared]).isEmpty)
    }

    @Test func `A free trial earns nothing, and the first paid period is new`() {
        var trial = Self.paid("1", to: 7, price: 0)
        trial.offerType = 1
        trial.offerDiscountType = "FREE_TRIAL"
        #expect(
            Self.movements([trial, Self.paid("2", from: 7, to: 37)]) == ["7 new 9990 +1", "37 churn -9990 -1"])
        trial.offerDiscountType = nil
        #expect(Self.movements([trial]).isEmpty)
    }

    @Test func `An offer that is paid at once counts by its own length`() {
        var offer = Self.paid("1", to: 91, price: 14_970)
        offer.offerType = 1
        offer.offerDiscountType = "PAY_UP_FRONT"
        offer.offerPeriod = "P3M"
        #expect(
            Self.movements([offer, Self.paid("2", from: 91, to: 121)]) == [
                "0 new 4990 +1", "91 expansion 9990 +1", "91 expansion -4990 -1", "121 churn -9990 -1",
            ])
        #expect(Self.cells([offer]).map(\.offer) == ["introductory"])
    }

    @Test func `A commitment of twelve months counts by its monthly price`() {
        var commitment = Self.paid("1", to: 365, price: 15_990)
        commitment.billingPlanType = "MONTHLY"
        #expect(Self.movements([commitment]) == ["0 new 15990 +1", "365 churn -15990 -1"])
    }

    @Test func `A grace period earns nothing, and the charge after it is a reactivation`() {
        let event = Sample.event(
            "DID_FAIL_TO_RENEW/GRACE_PERIOD", signed: 30.5, status: 4, transaction: Self.paid("1", to: 30),
            renewal: Sample.renewal(on: true, retry: true, grace: 46, signed: 30.5, product: "gold"))
        let recovered = Sample.event(
            "DID_RENEW/BILLING_RECOVERY", signed: 33, number: 1, status: 1,
            transaction: Self.paid("2", from: 33, to: 63, signed: 33), renewal: Sample.renewal(signed: 33))
        #expect(
            Self.movements(of: [event, recovered]) == [
                "0 new 9990 +1", "30 churn -9990 -1", "33 reactivation 9990 +1", "63 churn -9990 -1",
            ])
    }

    @Test func `Seats that are added earn from then on, until the period ends`() {
        let first = Sample.seats(Self.paid("1", to: 30, price: 49_990))
        var added = Sample.seats(Self.paid("2", from: 12, to: 30, price: 20_000, signed: 12))
        added.reason = "PURCHASE"
        let renewed = Self.paid("3", from: 30, to: 60, price: 69_990, signed: 30)
        #expect(
            Self.movements([first, added, renewed]) == [
                "0 new 49990 +1", "12 expansion 20000", "60 churn -69990 -1",
            ])
        added.revocationDate = Sample.day(20)
        added.signedDate = Sample.day(20)
        #expect(
            Self.movements([first, added]) == [
                "0 new 49990 +1", "12 expansion 20000", "20 contraction -20000", "30 churn -49990 -1",
            ])
    }

    @Test func `Seats that are added to a period with an offer count by its length`() {
        var first = Sample.seats(Self.paid("1", to: 30, price: 20_000))
        (first.offerType, first.offerDiscountType, first.offerPeriod) = (1, "PAY_AS_YOU_GO", "P1M")
        var added = Sample.seats(Self.paid("2", from: 12, to: 30, price: 20_000, signed: 12))
        added.reason = "PURCHASE"
        // They have no offer themselves, so they are in another cell.
        #expect(
            Self.movements([first, added]) == [
                "0 new 20000 +1", "12 expansion 20000 +1", "30 churn -20000 -1", "30 churn -20000 -1",
            ])
    }

    @Test func `A fraction of a second between two periods is no churn`() {
        let second = 1.0 / 86_400
        let months = [Self.paid("1", to: 30), Self.paid("2", from: 30 + second / 2, to: 60)]
        #expect(Self.movements(months) == ["0 new 9990 +1", "60 churn -9990 -1"])
    }

    @Test func `A transaction without a price earns nothing`() {
        var unpriced = Self.paid("1", to: 30)
        unpriced.priceMilliunits = nil
        #expect(Self.movements([unpriced]).isEmpty)
    }

    // MARK: All lives

    @Test func `Start and movements are the end, exactly, in any order, for 10,000 generated lives`() {
        for seed in 0..<10_000 as Range<UInt64> {
            let events = SimulatedPurchase(ScenarioStep.scenario(seed: seed)).events.map(Self.priced)
            guard let environment = events.first?.key.environment else { continue }
            var generator = SeededGenerator(state: seed)
            let facts = AccessScenarioTests.delivered(events, seed: seed).compactMap(\.transaction)
            let newest = Self.newest(facts)
            let access = AccessScenarioTests.schedule(events).periods
            let periods = RevenuePeriod.all(newest, access: access, in: environment)
            let movements = RevenueMovement.all(of: periods)
            let shuffled = RevenuePeriod.all(
                (newest + newest).shuffled(using: &generator), access: access.shuffled(using: &generator),
                in: environment)
            #expect(RevenueMovement.all(of: shuffled) == movements, "seed \(seed): the order matters")
            var sums: [RevenueCell: MonthlyValue] = [:]
            var active = 0
            for (index, movement) in movements.enumerated() {
                sums[movement.cell, default: .zero] += movement.value
                active += movement.purchases
                guard index + 1 == movements.count || movements[index + 1].at > movement.at else { continue }
                let running = periods.filter { $0.contains(movement.at) }
                let scan = Dictionary(running.map { ($0.cell, $0.value) }, uniquingKeysWith: +)
                #expect(sums.filter { $0.value != .zero } == scan, "seed \(seed): at \(movement.at)")
                #expect(active == scan.count, "seed \(seed): at \(movement.at)")
                #expect((movement.kind == .churn) == scan.isEmpty, "seed \(seed): at \(movement.at)")
            }
            #expect(movements.first.map(\.kind) ?? .new == .new)
            let first = movements.first?.at
            #expect(!movements.contains { $0.kind == .new && $0.at != first }, "seed \(seed): new twice")
        }
    }

    // MARK: - Fixtures

    static func paid(
        _ id: String, from: Double = 0, to: Double, product: String = "gold", price: Int64 = 9990, signed: Double? = nil
    ) -> TransactionFacts {
        var facts = Sample.period(id, from: from, to: to, product: product, signed: signed ?? from)
        facts.priceMilliunits = price
        return facts
    }

    static func periods(
        _ transactions: [TransactionFacts], _ environment: StoreEnvironment = .production,
        nominalEnds: [String: Date] = [:]
    ) -> [RevenuePeriod] {
        var purchase = Sample.purchase("1", environment: environment)
        purchase.transactions = transactions.map { TransactionVersion($0, version: Sample.version(0)) }
        return RevenuePeriod.all(
            transactions, access: AccessSchedule(of: purchase).periods, in: environment, nominalEnds: nominalEnds)
    }

    private static func cells(
        _ transactions: [TransactionFacts], _ environment: StoreEnvironment = .production
    ) -> [RevenueCell] { periods(transactions, environment).map(\.cell) }

    /// Day, kind, amount, change of the number of purchases, and the product where it is not gold.
    private static func movements(_ transactions: [TransactionFacts]) -> [String] {
        described(RevenueMovement.all(of: periods(transactions)))
    }

    private static func movements(of events: [PurchaseEvent]) -> [String] {
        described(
            RevenueMovement.all(
                of: RevenuePeriod.all(
                    newest(events.compactMap(\.transaction)), access: AccessScheduleTests.schedule(events).periods,
                    in: .production)))
    }

    private static func described(_ movements: [RevenueMovement]) -> [String] {
        movements.map { movement in
            let count = movement.purchases == 0 ? "" : movement.purchases > 0 ? " +1" : " -1"
            let product = movement.cell.productId == "gold" ? "" : " " + movement.cell.productId
            let isAmongOthers = movements.contains { $0.cell.productId != "gold" && $0.at == movement.at }
            let day = Int((movement.at.timeIntervalSince(Sample.beginning) / 86_400).rounded())
            return "\(day) \(movement.kind) \(movement.value.amount)\(count)"
                + (product.isEmpty && isAmongOthers ? " gold" : product)
        }
    }

    private static func newest(_ facts: [TransactionFacts]) -> [TransactionFacts] {
        Array(
            Dictionary(
                facts.map { ($0.transactionId, $0) },
                uniquingKeysWith: { $0.signedDate < $1.signedDate ? $1 : $0 }
            ).values)
    }

    /// The event with a price, a currency, a storefront and an offer that depend on the transaction alone.
    private static func priced(_ event: PurchaseEvent) -> PurchaseEvent {
        var event = event
        guard var facts = event.transaction else { return event }
        var generator = SeededGenerator(
            state: facts.transactionId.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) })
        facts.priceMilliunits = [4990, 9990, 9990, 9990, 19_990, 79_990].randomElement(using: &generator)
        facts.currency = Int.random(in: 0..<20, using: &generator) == 0 ? "USD" : "EUR"
        facts.storefront = facts.currency == "USD" ? "USA" : "DEU"
        switch Int.random(in: 0..<12, using: &generator) {
        case 0: (facts.offerType, facts.offerDiscountType, facts.priceMilliunits) = (1, "FREE_TRIAL", 0)
        case 1: (facts.offerType, facts.offerDiscountType, facts.offerPeriod) = (2, "PAY_UP_FRONT", "P6M")
        case 2: (facts.offerType, facts.offerDiscountType) = (3, "PAY_AS_YOU_GO")
        case 3: facts.billingPlanType = "MONTHLY"
        case 4: facts.priceMilliunits = nil
        default: break
        }
        event.transaction = facts
        return event
    }
}
