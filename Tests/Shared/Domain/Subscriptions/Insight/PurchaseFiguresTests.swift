import Contracts
import Foundation
import Subscriptions
import Testing

/// What a purchase adds to the days, by hand-computed cases.
@Suite struct PurchaseFiguresTests {
    private typealias Movements = RevenueMovementTests

    /// Day, kind, step, amount, count.
    private static func sums(_ transactions: [TransactionFacts], on day: Double) -> Set<String> {
        let figures = figures(transactions, on: day)
        let first = Int(Sample.beginning.timeIntervalSince1970 / 86_400)
        return Set(
            figures.sums.map { key, sum in
                "\(key.day - first) \(key.kind) \(key.step) \(sum.amount) \(sum.count)"
            }.filter { text in !["new", "churn", "expansion", "lost"].contains { text.contains($0) } })
    }

    private static func figures(_ transactions: [TransactionFacts], on day: Double) -> PurchaseFigures {
        var purchase = Sample.purchase("1")
        purchase.transactions = transactions.map { TransactionVersion($0, version: Sample.version(0)) }
        return PurchaseFigures(
            transactions, access: AccessSchedule(of: purchase).periods, in: .production, at: Sample.day(day))
    }

    private static func trial(to: Double) -> TransactionFacts {
        var trial = Movements.paid("1", to: to, price: 0)
        (trial.offerType, trial.offerDiscountType, trial.offerPeriod) = (1, "FREE_TRIAL", "P1W")
        return trial
    }

    @Test func `A trial runs, ends, or is paid so many days after it began`() {
        #expect(Self.sums([Self.trial(to: 7)], on: 3) == ["0 trialRunning 0 0 1"])
        #expect(Self.figures([Self.trial(to: 7)], on: 3).changesAt == Sample.day(7))
        #expect(Self.sums([Self.trial(to: 7)], on: 7) == ["0 trialEnded 0 0 1"])
        #expect(
            Self.sums([Self.trial(to: 7), Movements.paid("2", from: 10, to: 40)], on: 12) == [
                "0 trialPaid 10 0 1", "10 charge 0 9990 1", "10 periods 1 0 1",
            ])
    }

    @Test func `A refund counts on its day and on the day of the transaction, a prorated one by its share`() {
        var refunded = Movements.paid("1", to: 30, signed: 10)
        (refunded.revocationDate, refunded.revocationType) = (Sample.day(10), "REFUND_FULL")
        #expect(
            Self.sums([refunded], on: 12) == [
                "0 charge 0 9990 1", "10 refund 0 9990 1", "0 refundOfCharge 0 9990 1", "0 periods 1 0 1",
            ])
        (refunded.revocationType, refunded.revocationPercentage) = ("REFUND_PRORATED", 66_667)
        // 9990 × 0.66667 = 6660.0333.
        #expect(Self.sums([refunded], on: 12).contains("10 refund 0 6660 1"))
        refunded.revocationType = "FAMILY_REVOKE"
        #expect(!Self.sums([refunded], on: 12).contains { $0.contains("refund") })
    }

    @Test func `Refunds of items count on their days while the transaction goes on, and the rest when it is revoked`() {
        var items = Movements.paid("1", to: 30, signed: 12)
        items.revocationPercentage = 20_000
        items.itemRefunds = [.init(date: Sample.day(12), amount: 990), .init(date: Sample.day(10), amount: 1_008)]
        let refunds: Set = ["10 refund 0 1008 1", "12 refund 0 990 1"]
        func refunded() -> Set<String> { Self.sums([items], on: 20).filter { $0.contains("efund") } }
        #expect(refunded() == refunds.union(["0 refundOfCharge 0 1998 1"]))
        // Of all of it, as of a part, no more than was paid.
        (items.revocationDate, items.revocationType, items.signedDate) = (Sample.day(15), "REFUND_FULL", Sample.day(15))
        #expect(refunded() == refunds.union(["15 refund 0 7992 1", "0 refundOfCharge 0 9990 1"]))
        // Of Advanced Commerce Apple signs no type: the share says that all of it was.
        (items.revocationType, items.revocationPercentage) = (nil, 100_000)
        #expect(refunded() == refunds.union(["15 refund 0 7992 1", "0 refundOfCharge 0 9990 1"]))
        items.itemRefunds[1].amount = 9_500
        #expect(
            refunded() == ["10 refund 0 9500 1", "12 refund 0 490 1", "0 refundOfCharge 0 9990 1"])
    }

    @Test func `A purchase reached so many periods, with and without those after a resubscription`() {
        var again = Movements.paid("3", from: 200, to: 230)
        again.reason = "PURCHASE"
        let life = [Movements.paid("1", to: 30), Movements.paid("2", from: 30, to: 60), again]
        func reached(_ day: Double) -> Set<String> { Self.sums(life, on: day).filter { $0.contains("eriods") } }
        #expect(reached(40) == ["0 periods 2 0 1"])
        #expect(reached(210) == ["0 resubscribedPeriods 3 0 1", "0 unbrokenPeriods 2 0 1"])
    }

    @Test func `A period that replaced another one within its time counts with it`() {
        let upgraded = [
            Movements.paid("1", to: 30), Movements.paid("2", from: 10, to: 40, product: "platinum", signed: 10),
        ]
        #expect(Self.sums(upgraded, on: 12).contains("0 periods 1 0 1"))
    }

    @Test func `A period of another length counts as the lengths of the first one that it covers, until a refund`() {
        var year = Movements.paid("2", from: 31, to: 396, product: "yearly", price: 99_990, signed: 31)
        let month = Movements.paid("1", to: 31)
        #expect(Self.sums([month, year], on: 40).contains("0 periods 13 0 1"))
        (year.revocationDate, year.revocationType, year.signedDate) = (Sample.day(50), "REFUND_FULL", Sample.day(50))
        #expect(Self.sums([month, year], on: 60).contains("0 periods 1 0 1"))
        let week = Movements.paid("1", to: 7)
        let monthly = Movements.paid("2", from: 7, to: 35, product: "monthly", signed: 7)
        #expect(Self.sums([week, monthly], on: 8).contains("0 periods 5 0 1"))
    }

    @Test func `A month of 28 days is a month`() {
        let months = [Movements.paid("1", to: 28), Movements.paid("2", from: 28, to: 59)]
        #expect(Self.sums(months, on: 30).contains("0 periods 2 0 1"))
        #expect(Self.sums([months[0]], on: 20).contains("0 periods 1 0 1"))
    }

    @Test func `A charge after a year of paid service is a loyal one`() {
        let years = [Movements.paid("1", to: 365), Movements.paid("2", from: 365, to: 730)]
        #expect(Self.sums(years, on: 366).isSuperset(of: ["0 charge 0 9990 1", "365 loyalCharge 0 9990 1"]))
        var refunded = years
        (refunded[1].revocationDate, refunded[1].revocationType) = (Sample.day(370), "REFUND_FULL")
        #expect(Self.sums(refunded, on: 371).contains("370 refund 1 9990 1"))
        let late = [Movements.paid("1", to: 365), Movements.paid("2", from: 430, to: 795)]
        #expect(Self.sums(late, on: 431).contains("430 charge 0 9990 1"))
    }

    @Test func `What begins or ends later is not counted yet, and says when it will be`() {
        let months = [Movements.paid("1", to: 30), Movements.paid("2", from: 30, to: 60, price: 12_990, signed: 29.5)]
        let figures = Self.figures(months, on: 29.5)
        #expect(figures.movements.map(\.kind) == [.new])
        #expect(figures.changesAt == Sample.day(30))
        #expect(Self.figures(months, on: 60).changesAt == nil)
    }

    @Test(arguments: ["FAMILY_SHARED", "ASSIGNED"])
    func `What another purchase pays for is no charge, no refund and no trial`(ownership: String) {
        var shared = Movements.paid("2", from: 7, to: 37, signed: 10)
        (shared.revocationDate, shared.revocationType) = (Sample.day(10), "REFUND_FULL")
        let purchase = [Self.trial(to: 7), shared].map { facts in
            var facts = facts
            facts.ownership = ownership
            return facts
        }
        #expect(Self.sums(purchase, on: 12).isEmpty)
    }

    @Test func `What changes in several cells at one moment counts once`() {
        let first = Sample.seats(Movements.paid("1", to: 30, price: 49_990))
        var added = Sample.seats(Movements.paid("2", from: 12, to: 30, price: 20_000, signed: 12))
        added.offerType = 2
        func counts(_ kind: PurchaseFigures.Kind) -> [Int] {
            Self.figures([first, added], on: 40).sums.filter { $0.key.kind == kind }.map(\.value.count).sorted()
        }
        #expect(counts(.churn) == [0, 1])
        (added.revocationDate, added.signedDate) = (Sample.day(20), Sample.day(20))
        #expect(counts(.contraction) == [1] && counts(.churn) == [1])
    }

    @Test func `A consumable adds what was charged`() {
        var coins = Sample.purchase(.consumable, "coins")
        coins.priceMilliunits = 990
        #expect(Self.sums([coins], on: 1) == ["0 charge 0 990 1"])
    }

    @Test func `A purchase that leaves and comes back within a month is lost in a day, and in no month`() throws {
        let first = Int(Sample.beginning.timeIntervalSince1970 / 86_400)
        func lost(_ transactions: [TransactionFacts]) -> Set<String> {
            Set(
                Self.figures(transactions, on: 800).sums.compactMap { key, sum in
                    key.kind == .lostInDay || key.kind == .lostInMonth
                        ? "\(key.kind) \(Self.text(key.day)) \(key.step) \(sum.count)" : nil
                })
        }
        // It was not there when the month began.
        #expect(lost([Movements.paid("1", to: 30)]) == ["lostInDay \(Self.text(first + 30)) -1 1"])
        // Every month of two years, leap days and ends of years included.
        for day in stride(from: 31.0, to: 760, by: 29) {
            let end = Self.text(first + Int(day))
            #expect(
                lost([Movements.paid("1", to: day)]) == [
                    "lostInDay \(end) -1 1", "lostInMonth \(end.prefix(7))-01 -1 1",
                ])
        }
        let next = try #require((31..<60).first { Self.text(first + $0).hasSuffix("-01") })
        let again = Movements.paid("2", from: Double(next) + 9, to: 1000)
        #expect(
            lost([Movements.paid("1", to: Double(next) + 3), again]) == [
                "lostInDay \(Self.text(first + next + 3)) -1 1"
            ])
    }

    /// A day as `2026-01-31`.
    private static func text(_ day: Int) -> String {
        Date(timeIntervalSince1970: Double(day) * 86_400).formatted(Date.ISO8601FormatStyle().year().month().day())
    }
}
