import Contracts
import Subscriptions
import Testing

@Suite struct PurchasePricesTests {
    private static let day = 86_400.0

    @Test func `Price of a month is told for longer and shorter periods`() {
        #expect(PurchasePrices.monthly(79_990, of: 365 * Self.day, in: .production) == 6_666)
        #expect(PurchasePrices.monthly(1_990, of: 7 * Self.day, in: .production) == 8_653)
        #expect(PurchasePrices.monthly(9_990, of: 31 * Self.day, in: .production) == nil)
        #expect(PurchasePrices.monthly(79_990, of: 3_600, in: .sandbox) == 6_666)
    }

    @Test(arguments: [(StoreEnvironment.production, 3_600.0), (.production, 1), (.sandbox, 2), (.sandbox, 140)])
    func `Period that was cut short says nothing of the price of a month`(
        environment: StoreEnvironment, seconds: Double
    ) {
        #expect(PurchasePrices.monthly(9_990, of: seconds, in: environment) == nil)
    }
}
