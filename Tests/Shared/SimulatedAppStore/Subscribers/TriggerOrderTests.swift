import Contracts
import Foundation
import Testing

@testable import SimulatedAppStore

/// The order of commands that Documentation/Simulator.md shows.
@Suite struct TriggerOrderTests {
    private static let now = Date(milliseconds: 1_780_000_000_000)

    @Test func `Renewal, failure, recovery and refund follow each other, and the refusal says how far to advance`()
        throws
    {
        var purchases = ManualPurchases(seed: 1, now: Self.now)
        let app = App(bundleId: "com.example.app", appAppleId: 1, environment: .production)
        let bought = try purchases.buy(
            try Catalogue().product("premium.monthly", in: app.bundleId), for: .init(app: app, appAccountToken: UUID()),
            timeScale: TimeScale(environment: .production), at: Self.now)
        let id = try #require(bought.purchase?.originalTransactionId)
        var date = Self.now.adding(10)
        let renewed = try purchases.trigger("DID_RENEW", purchase: id, at: date)
        let begins = try #require(renewed.purchase?.purchaseDate)
        #expect(begins > date)

        let refusal = #expect(throws: SimulatorError.self) {
            try purchases.trigger("DID_FAIL_TO_RENEW", subtype: "GRACE_PERIOD", purchase: id, at: date)
        }
        let message = try #require(refusal).description
        let named = try #require(message.split(separator: "`").first { $0.hasPrefix("simulator clock advance ") })
        let ahead = try #require(SimulatedClock.seconds(String(named.split(separator: " ").last ?? "")))
        #expect(ahead >= begins.timeIntervalSince(date) && ahead < begins.timeIntervalSince(date) + 1)

        date = Self.now.adding(10 + 31 * 86_400)
        #expect(date >= begins && ahead <= 31 * 86_400)
        let byTime = purchases.next(now: date)
        #expect(byTime == nil)
        let steps: [(String, String?)] = [
            ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"), ("DID_RENEW", "BILLING_RECOVERY"), ("REFUND", nil),
        ]
        for (type, subtype) in steps {
            date = date.adding(10)
            let event = try purchases.trigger(type, subtype: subtype, purchase: id, at: date)
            #expect(event.kind.type.rawValue == type && event.kind.subtype?.rawValue == subtype)
        }
    }
}
