import Development
import Foundation
import Signatures
import Synchronization
import Testing

@testable import AppStore
@testable import AppStoreSamples

@Suite struct ChainBudgetTests {
    private static let now = Date(timeIntervalSince1970: 1_780_000_000)

    @Test func `ChainBudget allows its burst at once and its rate after that`() {
        let start = ContinuousClock.now
        let time = Mutex(start)
        let budget = ChainBudget(perSecond: 2, burst: 3, instant: { time.withLock(\.self) })
        #expect((0..<5).map { _ in budget.take() } == [true, true, true, false, false])
        time.withLock { $0 = start + .seconds(1) }
        #expect((0..<3).map { _ in budget.take() } == [true, true, false])
        time.withLock { $0 = start + .seconds(1000) }
        #expect((0..<4).map { _ in budget.take() } == [true, true, true, false])
    }

    @Test func `Verifier leaves unknown chains open while the budget is used up, and verifies known ones all the same`()
        throws
    {
        let material = try ForgeryMaterial(now: Self.now)
        let verifier = try material.verifier()
        let genuine = try material.signed(material.envelope(material.transaction(), material.renewal()))
        let none = ChainBudget(perSecond: 0, burst: 0, instant: { .now })
        #expect(Self.reason(verifier.notification(genuine, now: Self.now, budget: none)) == .chainDeferred)
        #expect(Self.reason(verifier.notification(genuine, now: Self.now)) == nil)
        #expect(Self.reason(verifier.notification(genuine, now: Self.now, budget: none)) == nil)
    }

    @Test
    func `ChainBudget is not used for a forged leaf before the genuine intermediate unless its key signed the payload`()
        throws
    {
        let material = try ForgeryMaterial(now: Self.now)
        let verifier = try material.verifier()
        let one = ChainBudget(perSecond: 0, burst: 1, instant: { .now })
        let genuine = try material.signed(material.envelope())
        // A genuine header with one bit of the leaf changed: the header is signed, too.
        for bit in 0..<64 {
            var leaf = material.authority.leaf
            leaf[leaf.count - 1 - bit / 8] ^= 1 << UInt8(bit % 8)
            let header = CompactJWS.headerJSON(
                x5c: [leaf, material.authority.intermediate, material.authority.root].map {
                    Data($0).base64EncodedString()
                })
            let parts = genuine.split(separator: UInt8(ascii: "."))
            let forged = Array(
                [Base64.encode(header, .url), Array(parts[1]), Array(parts[2])].joined(separator: [UInt8(ascii: ".")]))
            let reason = Self.reason(verifier.notification(forged, now: Self.now, budget: one))
            #expect(reason == .signature || reason == .certificateMalformed)
        }
        // The last one is still available for the genuine chain.
        #expect(Self.reason(verifier.notification(genuine, now: Self.now, budget: one)) == nil)
    }

    @Test
    func `Verifier rejects a chain that it rejected before, and leaves an unknown one open, before any signature`()
        throws
    {
        let material = try ForgeryMaterial(now: Self.now)
        let verifier = try material.verifier()
        let own = try DevelopmentAuthority(now: Self.now)
        let forged = try material.underChain([own.leaf, own.intermediate, own.root], key: own.leafKey)
        let unsigned =
            Array(forged.prefix { $0 != UInt8(ascii: ".") }) + Array(".e30.".utf8)
            + Base64.encode([UInt8](repeating: 1, count: 64), .url)
        let open = verifier.notification(unsigned, now: Self.now, budget: ChainBudget.none)
        #expect(Self.reason(open) == .chainDeferred)
        #expect(Self.reason(verifier.notification(unsigned, now: Self.now)) == .signature)
        #expect(Self.reason(verifier.notification(forged, now: Self.now)) == .chainUntrusted)
        #expect(Self.reason(verifier.notification(unsigned, now: Self.now)) == .chainUntrusted)
    }

    @Test func `FailedChains remembers a rejected chain, and is bounded`() throws {
        let material = try ForgeryMaterial(now: Self.now)
        let verifier = try material.verifier()
        let own = try DevelopmentAuthority(now: Self.now)
        let forged = try material.underChain([own.leaf, own.intermediate, own.root], key: own.leafKey)
        let one = ChainBudget(perSecond: 0, burst: 1, instant: { .now })
        for _ in 0..<3 {
            #expect(Self.reason(verifier.notification(forged, now: Self.now, budget: one)) == .chainUntrusted)
        }
        #expect(verifier.rememberedRejections == 1)
        let rejected = FailedChains(capacity: 10)
        for number in 0..<100 { rejected.insert(VerificationFailure(.chainUntrusted, "no"), for: [UInt8(number)]) }
        #expect(rejected.count == 10)
        #expect(rejected.rejection(of: [99]) != nil)
        #expect(rejected.rejection(of: [89]) == nil)
    }

    private static func reason<Value>(_ result: Result<Value, VerificationFailure>) -> VerificationFailureReason? {
        if case .failure(let rejection) = result { rejection.reason } else { nil }
    }
}
