import Contracts
import Testing

@testable import Devkit

struct AccessCheckTests {
    static func period(_ from: Int64, _ to: Int64?, _ product: String = "pro", isGrace: Bool = false)
        -> RunRecord.AccessPeriod
    {
        RunRecord.AccessPeriod(productId: product, startsAt: from, endsAt: to, isGrace: isGrace)
    }

    static func difference(
        _ expected: [RunRecord.AccessPeriod], _ found: [RunRecord.AccessPeriod], until: Int64 = 50
    ) -> String? {
        AccessCheck(expected: expected, found: found, followedUntil: until).difference(of: "purchase")?.field
    }

    @Test func `Access that is cut into other periods is the same access`() {
        #expect(Self.difference([Self.period(10, 30)], [Self.period(10, 20), Self.period(20, 30)]) == nil)
    }

    @Test func `Access that ends or begins a millisecond too early or too late differs`() {
        #expect(Self.difference([Self.period(10, 30)], [Self.period(10, 29)]) == "access at 29")
        #expect(Self.difference([Self.period(10, 30)], [Self.period(9, 30)]) == "access at 9")
        #expect(Self.difference([Self.period(10, nil)], [Self.period(10, 300)]) == "access at 300")
        #expect(Self.difference([], [Self.period(10, 30)]) == "access at 10")
    }

    @Test func `Access to another product differs`() {
        #expect(Self.difference([Self.period(10, 30)], [Self.period(10, 30, "basic")]) == "access at 10")
    }

    @Test func `A grace period counts, also when it is over`() {
        let grace = [Self.period(10, 30), Self.period(30, 40, isGrace: true)]
        #expect(Self.difference(grace, [Self.period(10, 30)], until: 50) == "access at 30")
        #expect(Self.difference(grace, grace, until: 50) == nil)
    }
}
