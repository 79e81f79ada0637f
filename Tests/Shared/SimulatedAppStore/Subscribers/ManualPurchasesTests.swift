import Contracts
import Foundation
import Testing

@testable import SimulatedAppStore

@Suite struct ManualPurchasesTests {
    private static let now = Date(milliseconds: 1_780_000_000_000)
    private static let app = App(bundleId: "com.example.app", appAppleId: 1, environment: .production)
    private static let account = UUID(uuidString: "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b")
    private static let timeScale = TimeScale(environment: .production)

    private static func buy(
        _ name: String = "premium.monthly", in purchases: inout ManualPurchases, account: UUID? = account,
        environment: StoreEnvironment = .production, at date: Date = now
    ) throws -> EventPayload {
        var app = app
        app.environment = environment
        return try purchases.buy(
            try Catalogue().product(name, in: app.bundleId), for: .init(app: app, appAccountToken: account),
            timeScale: TimeScale(environment: environment), at: date)
    }

    private static func id(_ payload: EventPayload) -> String { payload.purchase?.originalTransactionId ?? "" }

    @Test func `Bought subscription names the account and renews by time, before the period ends`() throws {
        var purchases = ManualPurchases(seed: 1, now: Self.now)
        let bought = try Self.buy(in: &purchases)
        #expect(bought.kind == NotificationKind(.subscribed, .initialBuy))
        #expect(bought.signedDate == Self.now)
        #expect(bought.customer?.appAccountToken == Self.account)
        let end = try #require(bought.purchase?.expiresDate)
        let early = purchases.next(now: end.adding(-86_400))
        #expect(early == nil)
        var kinds: [NotificationKind] = []
        var dates: [Date] = []
        while let event = purchases.next(now: Self.now.adding(100 * 86_400)) {
            kinds.append(event.kind)
            dates.append(event.signedDate)
        }
        #expect(kinds == Array(repeating: NotificationKind(.didRenew), count: 3))
        #expect(dates.first.map { $0 < end } == true)
        #expect(dates == dates.sorted())
    }

    @Test func `Cancelled subscription expires by time`() throws {
        var purchases = ManualPurchases(seed: 1, now: Self.now)
        let bought = try Self.buy(in: &purchases)
        let cancelled = try purchases.trigger(
            "DID_CHANGE_RENEWAL_STATUS", subtype: "AUTO_RENEW_DISABLED", purchase: Self.id(bought),
            at: Self.now.adding(60))
        #expect(cancelled.renewal?.willRenew == false)
        let next = purchases.next(now: Self.now.adding(40 * 86_400))
        let expired = try #require(next)
        #expect(expired.kind == NotificationKind(.expired, .voluntary))
        #expect(expired.signedDate == bought.purchase?.expiresDate)
        let last = purchases.next(now: Self.now.adding(400 * 86_400))
        #expect(last == nil)
    }

    @Test func `Failure to renew ends the paid period now, and grace and billing retry end by time`() throws {
        var purchases = ManualPurchases(seed: 1, now: Self.now)
        let id = Self.id(try Self.buy(in: &purchases))
        let failed = try purchases.trigger(
            "DID_FAIL_TO_RENEW", subtype: "GRACE_PERIOD", purchase: id, at: Self.now.adding(60))
        #expect(failed.purchase?.expiresDate == Self.now.adding(60))
        #expect(failed.status == 4)
        let later = Self.now.adding(100 * 86_400)
        var kinds: [String] = []
        while let event = purchases.next(now: later) { kinds.append(event.kind.words) }
        #expect(kinds == ["GRACE_PERIOD_EXPIRED", "EXPIRED BILLING_RETRY"])
    }

    @Test func `Every documented event about a purchase can be triggered`() throws {
        let steps: [(String, String?)] = [
            ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"), ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"),
            ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE"), ("DID_CHANGE_RENEWAL_PREF", nil),
            ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"),
            ("OFFER_REDEEMED", nil), ("PRICE_INCREASE", "PENDING"), ("PRICE_INCREASE", "ACCEPTED"),
            ("RENEWAL_EXTENDED", nil), ("CONSUMPTION_REQUEST", nil), ("REFUND_DECLINED", nil),
            ("DID_FAIL_TO_RENEW", nil), ("DID_RENEW", "BILLING_RECOVERY"), ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"),
            ("GRACE_PERIOD_EXPIRED", nil), ("EXPIRED", "BILLING_RETRY"), ("SUBSCRIBED", "RESUBSCRIBE"),
            ("REFUND", nil), ("REFUND_REVERSED", nil), ("METADATA_UPDATE", nil), ("MIGRATION", nil),
            ("PRICE_CHANGE", nil), ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"), ("DID_RENEW", nil),
        ]
        var purchases = ManualPurchases(seed: 1, now: Self.now)
        let id = Self.id(try Self.buy(in: &purchases))
        for (index, (type, subtype)) in steps.enumerated() {
            let event = try purchases.trigger(
                type, subtype: subtype, purchase: id, at: Self.now.adding(86_400 * Double(index + 1)))
            #expect(event.kind.type.rawValue == type)
            if let subtype { #expect(event.kind.subtype?.rawValue == subtype) }
        }
    }

    @Test(arguments: [nil, "GRACE_PERIOD"])
    func `Recovery seconds after a purchase is dated so that it is the later one`(subtype: String?) throws {
        var purchases = ManualPurchases(seed: 1, now: Self.now)
        let bought = try Self.buy("premium.monthly", in: &purchases, environment: .sandbox)
        let id = Self.id(bought)
        _ = try purchases.trigger("DID_FAIL_TO_RENEW", subtype: subtype, purchase: id, at: Self.now.adding(2))
        let recovered = try purchases.trigger(
            "DID_RENEW", subtype: "BILLING_RECOVERY", purchase: id, at: Self.now.adding(4))
        let renewal = try #require(recovered.purchase)
        #expect(renewal.reason == .renewal && renewal.transactionId != id)
        // A renewal counts as charged up to a minute before its date.
        #expect(renewal.purchaseDate >= Self.now.adding(60))
        #expect(recovered.signedDate == renewal.purchaseDate)
        #expect(recovered.access?.last?.start == renewal.purchaseDate)
    }

    @Test func `In production the recovery waits for the day after the purchase, and the refusal says how`() throws {
        var purchases = ManualPurchases(seed: 1, now: Self.now)
        let id = Self.id(try Self.buy(in: &purchases))
        _ = try purchases.trigger("DID_FAIL_TO_RENEW", purchase: id, at: Self.now.adding(2))
        let early = message {
            try purchases.trigger("DID_RENEW", subtype: "BILLING_RECOVERY", purchase: id, at: Self.now.adding(4))
        }
        #expect(early.contains("clock advance 1d"))
        let recovered = try purchases.trigger("DID_RENEW", purchase: id, at: Self.now.adding(86_400))
        #expect(recovered.purchase?.purchaseDate == Self.now.adding(86_400))
    }

    @Test func `Commitment whose period is cut short binds as long as before`() throws {
        var purchases = ManualPurchases(seed: 1, now: Self.now)
        let bought = try Self.buy("studio.commitment", in: &purchases, environment: .sandbox)
        let id = Self.id(bought)
        _ = try purchases.trigger("DID_FAIL_TO_RENEW", purchase: id, at: Self.now.adding(2))
        let recovered = try purchases.trigger("DID_RENEW", purchase: id, at: Self.now.adding(90))
        #expect(recovered.purchase?.commitment?.number == 2)
        #expect(recovered.purchase?.commitment?.expiresDate == bought.purchase?.commitment?.expiresDate)
    }

    @Test func `Renewal at a changed price says that the next one costs the same`() throws {
        var purchases = ManualPurchases(seed: 1, now: Self.now)
        let bought = try Self.buy(in: &purchases)
        let raised = (bought.purchase?.price ?? 0) + 1_000
        _ = try purchases.trigger(
            "PRICE_INCREASE", subtype: "ACCEPTED", purchase: Self.id(bought), at: Self.now.adding(60))
        for month in 1...3 {
            let next = purchases.next(now: Self.now.adding(Double(month) * 31 * 86_400))
            let event = try #require(next)
            #expect(event.kind == NotificationKind(.didRenew) && event.purchase?.price == raised)
            let renewal = PayloadBuilder.renewal(
                try #require(event.renewal), of: try #require(event.purchase), in: event)
            #expect(renewal.renewalPrice == raised && renewal.priceIncreaseStatus == nil)
        }
    }

    @Test func `Chosen product renews at its own price, and the kept one at the customer's`() throws {
        var purchases = ManualPurchases(seed: 1, now: Self.now)
        let id = Self.id(try Self.buy(in: &purchases))
        let raised = (try purchases.purchase(id).purchase?.price ?? 0) + 1_000
        _ = try purchases.trigger("PRICE_INCREASE", subtype: "ACCEPTED", purchase: id, at: Self.now.adding(60))
        let renewed = purchases.next(now: Self.now.adding(31 * 86_400))
        #expect(renewed?.purchase?.price == raised)
        let later = Self.now.adding(33 * 86_400)
        let product = try Catalogue().product("basic.monthly", in: "com.example.app")
        let lower = try purchases.trigger(
            "DID_CHANGE_RENEWAL_PREF", subtype: "DOWNGRADE", purchase: id, product: product, at: later)
        #expect(lower.renewal?.nextProduct == product && lower.renewal?.nextPrice == nil)
        let kept = try purchases.trigger("DID_CHANGE_RENEWAL_PREF", purchase: id, at: later.adding(60))
        #expect(kept.renewal?.nextPrice == raised)
    }

    @Test func `Offer code is redeemed by subscribing, by subscribing again, and for the next period`() throws {
        var purchases = ManualPurchases(seed: 1, now: Self.now)
        let buyer = ManualPurchases.Buyer(app: Self.app, appAccountToken: Self.account)
        let product = try Catalogue().product("premium.monthly", in: "com.example.app")
        let first = try purchases.buy(product, for: buyer, offerCode: "SPRING", timeScale: Self.timeScale, at: Self.now)
        #expect(first.purchase?.offer == .code("SPRING"))
        let paid = PayloadBuilder.transaction(try #require(first.purchase), in: first)
        #expect(paid.offerType == .offerCode && paid.offerIdentifier == "SPRING" && paid.price == 4_995)
        let id = Self.id(first)
        let redeemed = try purchases.trigger(
            "OFFER_REDEEMED", purchase: id, offerCode: "SUMMER", at: Self.now.adding(60))
        #expect(redeemed.renewal?.nextOffer?.identifier == "SUMMER")
        _ = try purchases.trigger("REFUND", purchase: id, at: Self.now.adding(120))
        let again = try purchases.buy(
            product, for: buyer, offerCode: "BACK", timeScale: Self.timeScale, at: Self.now.adding(180))
        #expect(again.kind == NotificationKind(.subscribed, .resubscribe))
        #expect(again.purchase?.offer?.identifier == "BACK")
        #expect(
            message {
                try purchases.trigger("REFUND", purchase: id, offerCode: "SPRING", at: Self.now.adding(240))
            }.contains("OFFER_REDEEMED"))
        let coins = try Catalogue().product("coins.100", in: "com.example.app")
        #expect(
            message {
                try purchases.buy(
                    coins, for: buyer, offerCode: "SPRING", timeScale: Self.timeScale, at: Self.now.adding(240))
            }.contains("subscription"))
    }

    @Test func `Customer who ordered the app before its release has the date in the app transaction`() throws {
        var purchases = ManualPurchases(seed: 1, now: Self.now)
        var buyer = ManualPurchases.Buyer(app: Self.app, appAccountToken: Self.account)
        let product = try Catalogue().product("filters.unlocked", in: "com.example.app")
        let plain = try purchases.buy(product, for: buyer, timeScale: Self.timeScale, at: Self.now)
        #expect(PayloadBuilder.appTransaction(of: plain).preorderDate == nil)
        buyer.hasPreordered = true
        let ordered = try purchases.buy(product, for: buyer, timeScale: Self.timeScale, at: Self.now.adding(60))
        #expect(PayloadBuilder.appTransaction(of: ordered).preorderDate == Self.now.adding(60 - 30 * 86_400))
        buyer.hasPreordered = false
        let later = try purchases.buy(product, for: buyer, timeScale: Self.timeScale, at: Self.now.adding(120))
        #expect(PayloadBuilder.appTransaction(of: later).preorderDate == Self.now.adding(60 - 30 * 86_400))
    }

    @Test func `Test accounts of the sandbox cannot cancel, or are not charged again`() throws {
        var purchases = ManualPurchases(seed: 1, now: Self.now)
        func buy(as quirk: String) throws -> EventPayload {
            let app = App(bundleId: "com.example.app", appAppleId: 1, environment: .sandbox)
            return try purchases.buy(
                try Catalogue().product("premium.monthly", in: app.bundleId),
                for: .init(app: app, appAccountToken: UUID(), quirk: Customer.SandboxQuirk.named[quirk]),
                timeScale: TimeScale(environment: .sandbox), at: Self.now)
        }
        let stuck = Self.id(try buy(as: "cannotCancel"))
        let refusal = #expect(throws: SimulatorError.self) {
            try purchases.trigger(
                "DID_CHANGE_RENEWAL_STATUS", subtype: "AUTO_RENEW_DISABLED", purchase: stuck, at: Self.now.adding(1))
        }
        #expect(refusal?.description.contains("cannot follow") == true)
        let bought = try buy(as: "cannotRenew")
        let unpaid = Self.id(bought)
        #expect(throws: SimulatorError.self) {
            try purchases.trigger("DID_RENEW", purchase: unpaid, at: Self.now.adding(1))
        }
        let end = try #require(bought.purchase?.expiresDate)
        var kinds: [NotificationKind] = []
        while let event = purchases.next(now: end.adding(1)) {
            if Self.id(event) == unpaid { kinds.append(event.kind) }
        }
        #expect(kinds == [NotificationKind(.didFailToRenew)])
        // In the sandbox time ends what its customer cannot cancel.
        var last: NotificationKind?
        while let event = purchases.next(now: end.adding(365 * 86_400)) {
            if Self.id(event) == stuck { last = event.kind }
        }
        #expect(last == NotificationKind(.expired, .billingRetry))
    }

    @Test func `Commitment that is cancelled ends also in the sandbox`() throws {
        var purchases = ManualPurchases(seed: 1, now: Self.now)
        let id = Self.id(try Self.buy("studio.commitment", in: &purchases, environment: .sandbox))
        _ = try purchases.trigger(
            "DID_CHANGE_RENEWAL_STATUS", subtype: "AUTO_RENEW_DISABLED", purchase: id, at: Self.now.adding(1))
        var kinds: [NotificationKind] = []
        while let event = purchases.next(now: Self.now.adding(365 * 86_400)) { kinds.append(event.kind) }
        #expect(kinds.last?.type == .expired)
    }

    @Test func `Customer whose subscription is over subscribes again under the same id`() throws {
        var purchases = ManualPurchases(seed: 1, now: Self.now)
        let id = Self.id(try Self.buy(in: &purchases))
        _ = try purchases.trigger("REFUND", purchase: id, at: Self.now.adding(60))
        let again = try Self.buy(in: &purchases, at: Self.now.adding(120))
        #expect(again.kind == NotificationKind(.subscribed, .resubscribe))
        #expect(Self.id(again) == id)
        let error = #expect(throws: SimulatorError.self) {
            try Self.buy("studio.monthly", in: &purchases, at: Self.now.adding(180))
        }
        #expect(error?.description.contains("DID_CHANGE_RENEWAL_PREF --purchase \(id)") == true)
    }

    @Test func `Purchases of one account are those of one Apple account`() throws {
        var purchases = ManualPurchases(seed: 1, now: Self.now)
        let first = try Self.buy(in: &purchases)
        let second = try Self.buy("filters.unlocked", in: &purchases, at: Self.now.adding(1))
        let other = try Self.buy(in: &purchases, account: UUID(), at: Self.now.adding(2))
        #expect(first.customer?.appTransactionId == second.customer?.appTransactionId)
        #expect(first.customer?.appTransactionId != other.customer?.appTransactionId)
        #expect(Set([first, second, other].map(Self.id)).count == 3)
    }

    @Test func `Sandbox ends a subscription after twelve renewals`() throws {
        var purchases = ManualPurchases(seed: 1, now: Self.now)
        _ = try Self.buy(in: &purchases, environment: .sandbox)
        var kinds: [String] = []
        while let event = purchases.next(now: Self.now.adding(7_200)) { kinds.append(event.kind.words) }
        #expect(kinds.count { $0 == "DID_RENEW" } == 12)
        #expect(kinds.suffix(2) == ["DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED", "EXPIRED VOLUNTARY"])
    }

    @Test func `What does not exist or cannot follow is refused, naming what does`() throws {
        var purchases = ManualPurchases(seed: 1, now: Self.now)
        #expect(message { try purchases.trigger("REFUND", purchase: "1", at: Self.now) }.contains("buy one first"))
        let id = Self.id(try Self.buy(in: &purchases))
        let soon = Self.now.adding(60)
        #expect(message { try purchases.trigger("REFUND", purchase: "1", at: soon) }.contains(id))
        #expect(message { try purchases.trigger("RENEWED", purchase: id, at: soon) }.contains("DID_RENEW"))
        #expect(
            message { try purchases.trigger("EXPIRED", subtype: "SOON", purchase: id, at: soon) }.contains("VOLUNTARY"))
        let impossible = message { try purchases.trigger("GRACE_PERIOD_EXPIRED", purchase: id, at: soon) }
        #expect(impossible.contains("is active and renews"))
        #expect(impossible.contains("REFUND"))
        #expect(
            message { try Catalogue().product("gold", in: "com.example.app") }.contains(
                "com.example.app.premium.monthly"))
        let product = try Catalogue().product("basic.weekly", in: "com.example.app")
        #expect(
            message {
                try purchases.trigger(
                    "DID_CHANGE_RENEWAL_PREF", subtype: "UPGRADE", purchase: id, product: product, at: soon)
            }.contains("com.example.app.studio.monthly"))
    }

    /// The message of a refusal; empty where nothing was refused.
    private func message(_ body: () throws -> some Any) -> String {
        do {
            _ = try body()
            return ""
        } catch { return "\(error)" }
    }
}
