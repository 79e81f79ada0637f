import AppStore
import Contracts
import Foundation
import StrictJSON
import Testing

@testable import SimulatedAppStore

@Suite struct CommerceTests {
    private static let now = Date(milliseconds: 1_780_000_000_000)
    private static let app = App(bundleId: "com.example.app", appAppleId: 1, environment: .production)

    private static func buy(_ product: Product, in purchases: inout ManualPurchases) throws -> EventPayload {
        try purchases.buy(
            product, for: .init(app: app), timeScale: TimeScale(environment: .production), at: now)
    }

    /// What the two signed objects of a notification have of Advanced Commerce.
    private static func infos(
        in event: EventPayload
    ) throws -> (transaction: AdvancedCommerceInfo, renewal: AdvancedCommerceInfo) {
        let purchase = try #require(event.purchase)
        let transaction = PayloadBuilder.transaction(purchase, in: event).advancedCommerceInfo
        let renewal = PayloadBuilder.renewal(try #require(event.renewal), of: purchase, in: event).advancedCommerceInfo
        return (
            try AdvancedCommerceInfo(json: JSONDocument(try #require(transaction?.bytes)).root),
            try AdvancedCommerceInfo(json: JSONDocument(try #require(renewal?.bytes)).root)
        )
    }

    private static let twoItems = CommerceRequest.migration(
        ["news", "sport"].map { CommerceRequest.Naming(sku: $0) }, taxCode: nil)

    @Test func `Every notification about a generic product has its items, in transaction and renewal info`() throws {
        var purchases = ManualPurchases(seed: 1, now: Self.now)
        let bought = try Self.buy(.generic, in: &purchases)
        let id = try #require(bought.purchase?.transactionId)
        var events = [bought]
        let kinds: [(String, String?)] = [
            ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"), ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"),
            ("CONSUMPTION_REQUEST", nil), ("REFUND_DECLINED", nil), ("DID_FAIL_TO_RENEW", nil),
            ("DID_RENEW", "BILLING_RECOVERY"), ("PRICE_CHANGE", nil), ("REFUND", nil), ("REFUND_REVERSED", nil),
            ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"), ("DID_RENEW", nil),
        ]
        for (place, kind) in kinds.enumerated() {
            events.append(
                try purchases.trigger(
                    kind.0, subtype: kind.1, purchase: id, at: Self.now.adding(86_400 * Double(place + 1))))
        }
        for event in events {
            let (transaction, renewal) = try Self.infos(in: event)
            #expect(transaction.items?.count == 1 && transaction.items?.first?.sku == "generic.monthly")
            #expect((transaction.taxExclusivePrice ?? 0) + (transaction.estimatedTax ?? 0) == event.purchase?.price)
            if event.kind != .refund { #expect(renewal.items?.count == 1 && renewal.consistencyToken != nil) }
        }
        // The newest renewal costs the price that was announced.
        let (price, last) = (Product.generic.price, try Self.infos(in: try #require(events.last)))
        #expect(last.transaction.items?.first?.price == price + 1_000)
        #expect(last.renewal.items?.first?.price == price + 1_000)
        #expect(last.renewal.items?.first?.priceIncreaseInfo == nil)
    }

    @Test func `Refund is that of the items, and its reversal takes it back`() throws {
        var purchases = ManualPurchases(seed: 1, now: Self.now)
        let id = try #require(try Self.buy(.generic, in: &purchases).purchase?.transactionId)
        let refunded = try purchases.trigger("REFUND", purchase: id, at: Self.now.adding(60))
        let item = try #require(try Self.infos(in: refunded).transaction.items?.first)
        #expect(item.refunds?.map(\.refundAmount) == [Product.generic.price])
        #expect(item.refunds?.first?.refundType == "FULL" && item.revocationDate == Self.now.adding(60))
        let transaction = PayloadBuilder.transaction(try #require(refunded.purchase), in: refunded)
        #expect(transaction.revocationDate != nil && transaction.revocationType == nil)
        #expect(transaction.revocationPercentage == nil)
        let reversed = try purchases.trigger("REFUND_REVERSED", purchase: id, at: Self.now.adding(120))
        let again = try #require(try Self.infos(in: reversed).transaction.items?.first)
        #expect(again.refunds == nil && again.revocationDate == nil)
    }

    @Test func `Offer is that of the item, and an offer for the next period that of the renewal`() throws {
        var purchases = ManualPurchases(seed: 1, now: Self.now)
        let bought = try purchases.buy(
            .generic, for: .init(app: Self.app), offerCode: "SPRING", timeScale: TimeScale(environment: .production),
            at: Self.now)
        let (transaction, renewal) = try Self.infos(in: bought)
        let offer = try JSONDocument(try #require(transaction.items?.first?.offer?.bytes)).root
        #expect(offer["price"]?.int64 == Product.generic.price / 2 && offer["reason"]?.string == "RETENTION")
        #expect(offer["period"]?.string == "P1M" && offer["periodCount"]?.int64 == 1)
        #expect(transaction.items?.first?.price == Product.generic.price && renewal.items?.first?.offer == nil)
        let redeemed = try purchases.trigger(
            "OFFER_REDEEMED", purchase: try #require(bought.purchase?.transactionId), at: Self.now.adding(60))
        #expect(try Self.infos(in: redeemed).renewal.items?.first?.offer != nil)
    }

    @Test func `Another subscription is one of Advanced Commerce from its migration on`() throws {
        var purchases = ManualPurchases(seed: 1, now: Self.now)
        let bought = try Self.buy(.subscriptions[1], in: &purchases)
        #expect(PayloadBuilder.transaction(try #require(bought.purchase), in: bought).advancedCommerceInfo == nil)
        let id = try #require(bought.purchase?.transactionId)
        _ = try purchases.trigger("MIGRATION", purchase: id, at: Self.now.adding(60))
        let next = purchases.next(now: Self.now.adding(31 * 86_400))
        let renewed = try #require(next)
        #expect(renewed.kind == NotificationKind(.didRenew))
        #expect(try Self.infos(in: renewed).transaction.items?.first?.sku == "basic.monthly")
    }

    @Test func `Items are refunded one by one, and the last one ends the subscription`() throws {
        var identities = Identities(seed: 1, now: Self.now)
        var fixture = PurchaseFixture(Self.app, seed: 1, beginning: Self.now)
        _ = fixture.next(.subscribe, product: .generic)
        var simulated = fixture.simulated
        let id = fixture.transactionId
        func refund(_ sku: String, _ amount: Int64?) -> CommerceRequest {
            .refund([
                .init(
                    sku: sku, reason: "LEGAL", type: amount == nil ? "FULL" : "CUSTOM", amount: amount, revokes: true)
            ])
        }
        let two = simulated.apply(
            Self.twoItems, to: id, at: simulated.now.adding(60), identities: &identities)
        #expect(two?.kind == NotificationKind(.migration))
        let first = simulated.apply(refund("news", 990), to: id, at: simulated.now.adding(60), identities: &identities)
        #expect(first?.kind == .refund && first?.status == 1 && first?.purchase?.revocation == nil)
        #expect(first?.purchase?.commerce?.items.map { $0.refunds.map(\.amount) } == [[990], []])
        #expect(first?.access == nil)
        let before = simulated
        let unknown = simulated.apply(
            refund("other", nil), to: id, at: simulated.now.adding(60), identities: &identities)
        #expect(unknown == nil && simulated == before)
        let last = simulated.apply(refund("sport", nil), to: id, at: simulated.now.adding(60), identities: &identities)
        #expect(last?.status == 5 && last?.purchase?.revocation != nil)
        #expect(last?.access?.last?.end == simulated.now)
    }

    @Test func `Next period is without the item that was revoked, and costs as much less`() throws {
        var identities = Identities(seed: 2, now: Self.now)
        var fixture = PurchaseFixture(Self.app, seed: 1, beginning: Self.now)
        _ = fixture.next(.subscribe, product: .generic)
        var simulated = fixture.simulated
        let id = fixture.transactionId
        _ = simulated.apply(
            Self.twoItems, to: id, at: simulated.now.adding(60), identities: &identities)
        let priced = simulated.apply(
            .prices([.init(sku: "sport", price: 3_000)]), to: id, at: simulated.now.adding(60), identities: &identities)
        #expect(priced?.renewal?.nextPrice == Product.generic.price + 3_000)
        let news = CommerceRequest.ItemRefund(sku: "news", reason: "LEGAL", type: "FULL", amount: nil, revokes: true)
        let revoked = simulated.apply(
            .refund([news]), to: id, at: simulated.now.adding(60), identities: &identities)
        #expect(revoked?.renewal?.nextPrice == 3_000)
        let renewed = simulated.apply(
            .renew, at: simulated.now.adding(60), product: .generic, identities: &identities)
        #expect(renewed?.purchase?.price == 3_000)
        #expect(renewed?.purchase?.commerce?.items.map(\.sku) == ["sport"])
        // A refund of the period before leaves the next one as it is.
        let current = try #require(renewed?.purchase?.transactionId)
        _ = simulated.apply(
            .prices([.init(sku: "sport", price: 4_000)]), to: current, at: simulated.now.adding(60),
            identities: &identities)
        let late = simulated.apply(
            .refund([news]), to: id, at: simulated.now.adding(60), identities: &identities)
        #expect(late?.purchase?.transactionId == id && late?.renewal?.nextPrice == 4_000)
    }

    @Test func `Names change at once, or with the next period`() throws {
        var identities = Identities(seed: 1, now: Self.now)
        var fixture = PurchaseFixture(Self.app, seed: 1, beginning: Self.now)
        _ = fixture.next(.subscribe, product: .generic)
        var simulated = fixture.simulated
        let id = fixture.transactionId
        _ = simulated.apply(Self.twoItems, to: id, at: simulated.now.adding(60), identities: &identities)
        let changed = simulated.apply(
            .metadata(
                [
                    .init(name: "All", isLater: true), .init(sku: "news", name: "The news"),
                    .init(sku: "sport", newSKU: "sports", description: "Live", isLater: true),
                ], taxCode: "C004"), to: id, at: simulated.now.adding(60), identities: &identities)
        let (transaction, renewal) = try Self.infos(in: try #require(changed))
        #expect(changed?.kind == NotificationKind(.metadataUpdate))
        #expect(transaction.descriptors?.displayName == "Everything" && renewal.descriptors?.displayName == "All")
        #expect(transaction.items?.map(\.sku) == ["news", "sport"] && renewal.items?.map(\.sku) == ["news", "sports"])
        #expect(transaction.items?.map(\.displayName) == ["The news", "Everything"])
        #expect(transaction.items?.last?.description == "All titles" && renewal.items?.last?.description == "Live")
        #expect(transaction.taxCode == "C004" && renewal.taxCode == "C004")
        let taken = simulated.apply(
            .metadata([.init(sku: "news", newSKU: "sports")], taxCode: nil), to: id, at: simulated.now.adding(60),
            identities: &identities)
        #expect(taken == nil)
        let renewed = simulated.apply(
            .renew, at: simulated.now.adding(60), product: .generic, identities: &identities)
        let now = try Self.infos(in: try #require(renewed)).transaction
        #expect(now.descriptors?.displayName == "All" && now.items?.map(\.sku) == ["news", "sports"])
        #expect(now.items?.map(\.description) == ["All titles", "Live"] && now.taxCode == "C004")
    }

    @Test func `Revocation counts as much as was refunded, in the book, too`() throws {
        var identities = Identities(seed: 1, now: Self.now)
        var fixture = PurchaseFixture(Self.app, seed: 1, beginning: Self.now)
        _ = fixture.next(.subscribe, product: .generic)
        var simulated = fixture.simulated
        let half = Product.generic.price / 2
        let refund = CommerceRequest.ItemRefund(
            sku: "generic.monthly", reason: "LEGAL", type: "CUSTOM", amount: half, revokes: true)
        let refunded = try #require(
            simulated.apply(
                .refund([refund]), to: fixture.transactionId, at: simulated.now.adding(60), identities: &identities))
        #expect(refunded.book?.refunds.map(\.amount) == [half])
        let transaction = PayloadBuilder.transaction(try #require(refunded.purchase), in: refunded)
        #expect(transaction.revocationPercentage == nil && transaction.refundedShare == 50_000)
    }

    @Test func `Subscription that is revoked in its grace period gives no access after it`() throws {
        var identities = Identities(seed: 1, now: Self.now)
        var fixture = PurchaseFixture(Self.app, seed: 1, beginning: Self.now)
        _ = fixture.next(.subscribe, product: .generic)
        let failed = fixture.next(.failToRenewWithGrace)
        #expect(failed.status == 4)
        var simulated = fixture.simulated
        let moment = simulated.now.adding(60)
        let revoked = simulated.apply(
            .revocation(reason: "LEGAL", type: "FULL"), to: fixture.transactionId, at: moment, identities: &identities)
        #expect(revoked?.status == 5 && revoked?.access?.last?.end == moment)
    }
}
