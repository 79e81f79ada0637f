import Contracts
import Foundation
import Testing

@testable import SimulatedAppStore

@Suite struct CatalogueTests {
    static let json = #"""
        {"apps": [{"bundleId": "com.mine.app", "appAppleId": 42, "environments": ["Sandbox"], "products": [
          {"productId": "gold_monthly", "type": "Auto-Renewable Subscription", "subscriptionGroupIdentifier": "1",
           "level": 1, "period": "P1M", "price": 9990},
          {"productId": "platinum_monthly", "type": "Auto-Renewable Subscription", "subscriptionGroupIdentifier": "1",
           "level": 2, "period": "P1M", "price": 19990},
          {"productId": "coins", "type": "Consumable", "price": 990}]}]}
        """#

    @Test func `Own products are bought by their own ids, and change within their own group`() throws {
        let catalogue = try Catalogue(json: Array(Self.json.utf8))
        let app = App(bundleId: "com.mine.app", appAppleId: 42, environment: .sandbox)
        #expect(catalogue.isOwn(app))
        let now = Date(milliseconds: 1_780_000_000_000)
        var purchases = ManualPurchases(seed: 1, now: now)
        let buyer = ManualPurchases.Buyer(
            app: app, appAccountToken: UUID(), catalogue: catalogue.products(in: app.bundleId))
        let bought = try purchases.buy(
            try catalogue.product("gold_monthly", in: app.bundleId), for: buyer,
            timeScale: TimeScale(environment: .sandbox), at: now)
        #expect(bought.purchase?.product.id(in: app.bundleId) == "gold_monthly")
        let upgraded = try purchases.trigger(
            "DID_CHANGE_RENEWAL_PREF", subtype: "UPGRADE", purchase: bought.purchase?.originalTransactionId ?? "",
            at: now.adding(10))
        #expect(upgraded.purchase?.product.id(in: app.bundleId) == "platinum_monthly")
    }

    @Test(arguments: [
        ("\"coins\"", "\"gold_monthly\"", "productId twice"), ("Consumable", "Consumible", "Non-Consumable"),
        ("P1M", "P5M", "P1Y"), ("\"price\": 990}", "\"price\": -1}", "milliunits"),
        ("\"price\": 990", "\"cost\": 990", "no member cost"),
        ("\"Sandbox\"", "\"Staging\"", "Production"), ("42", "0", "Apple ID"), ("\"com.mine.app\"", "\"\"", "bundleId"),
        ("{\"apps\"", "{\"app\"", "apps"),
    ])
    func `Mistake in a catalogue is named with its place`(right: String, wrong: String, named: String) {
        let json = Self.json.replacing(right, with: wrong)
        let error = #expect(throws: SimulatorError.self) { try Catalogue(json: Array(json.utf8)) }
        #expect(error?.description.contains(named) == true, "\(error?.description ?? "none")")
    }

    @Test func `Product that the app does not sell is refused with those that it sells`() throws {
        let catalogue = try Catalogue(json: Array(Self.json.utf8))
        let error = #expect(throws: SimulatorError.self) { try catalogue.product("silver", in: "com.mine.app") }
        #expect(error?.description.contains("gold_monthly, platinum_monthly, coins") == true)
    }
}
