import AppStore
import Contracts
import Development
import Foundation
import Pipeline
import Records
import Signatures
import Synchronization
import TestSupport
import Testing

@testable import AppStoreSamples
@testable import Verifier

/// A flood of forgeries that get as far as the certificate chain, beside genuine notifications.
@Suite struct VerifyDeferredTests {
    private static let now = Date(timeIntervalSince1970: 1_780_000_000)

    @Test func `Verifier passes genuine notifications and defers forged chains beyond its budget`() async throws {
        let material = try ForgeryMaterial(now: Self.now)
        let verifier = try material.verifier()
        let genuine = try material.signed(material.envelope(material.transaction(), material.renewal()))
        let forged = try Self.forged(20, material)
        var stage = Verify(verifier: { verifier }, now: { Self.now }, cores: 2)
        #expect(try await stage.process([Self.delivery(genuine)]).map(\.outcome) == ["forwarded"])
        stage.budget = Self.budget(4)
        let results = try await stage.process((forged + [genuine]).map(Self.delivery))
        #expect(results.map(\.outcome).filter { $0 == "chain-deferred" }.count == 16)
        #expect(results.map(\.outcome).filter { $0 == "chain-untrusted" }.count == 4)
        #expect(results.map(\.outcome).last == "forwarded")
        // The slower lane rejects the rest with its true reason.
        stage.budget = nil
        let slow = VerifyDeferred(verify: stage, share: 1, clock: ContinuousClock(), instant: { .now })
        let rejected = try await slow.process(forged.map(Self.delivery))
        #expect(Set(rejected.map(\.outcome)) == ["chain-untrusted"])
    }

    @Test func `Slower lane pauses by its share, and never so long that its group gives its partitions away`()
        async throws
    {
        let verifier = try ForgeryMaterial(now: Self.now).verifier()
        let time = Mutex(ContinuousClock.now)
        let clock = SkippingClock()
        for duration in [Duration.milliseconds(100), .seconds(10)] {
            let slow = VerifyDeferred(
                verify: Verify(verifier: { verifier }, now: { Self.now }, cores: 1), share: 0.01, clock: clock,
                instant: {
                    time.withLock { time in
                        defer { time += duration }
                        return time
                    }
                })
            _ = try await slow.process([])
        }
        #expect(clock.sleeps.count == 2)
        #expect(clock.sleeps[0] > .milliseconds(9800) && clock.sleeps[0] < .seconds(10))
        #expect(clock.sleeps[1] == .seconds(20))
    }

    @Test func `Deferred record keeps its bytes and headers, and says nothing about this release`() async throws {
        let material = try ForgeryMaterial(now: Self.now)
        let verifier = try material.verifier()
        var stage = Verify(verifier: { verifier }, now: { Self.now }, cores: 1)
        stage.budget = Self.budget(0)
        let message = ReceivedNotification(
            signedPayload: try material.signed(material.envelope()), source: .webhook, receivedAt: Self.now)
        let record = Batch.Record(
            wire: message.record(), position: LogPosition(topic: Topics.received.name, partition: 0, offset: 7),
            timestamp: nil)
        let processed = try await Batch(records: [record]).processed(by: stage)
        #expect(processed.deferred.map(\.wire) == [message.record()])
        guard case .discard(let reason) = processed.results[0] else {
            Issue.record("it was decided")
            return
        }
        #expect(reason.isDeferred)
        #expect(!reason.countsTowardsRejectionLimit)
    }

    @Test func `Verifier that has just started proves the chain that recurs, not the forged ones before it`()
        async throws
    {
        let material = try ForgeryMaterial(now: Self.now)
        let verifier = try material.verifier()
        let stage = Verify(verifier: { verifier }, now: { Self.now }, budget: Self.budget(1), cores: 2)
        let genuine = try (0..<5).map { _ in try material.signed(material.envelope()) }
        let results = try await stage.process((try Self.forged(30, material) + genuine).map(Self.delivery))
        #expect(
            results.map(\.outcome) == Array(repeating: "chain-deferred", count: 30)
                + Array(repeating: "forwarded", count: 5))
    }

    @Test func `Verifier remembers over batches which chains recur`() async throws {
        let material = try ForgeryMaterial(now: Self.now)
        let verifier = try material.verifier()
        let start = ContinuousClock.now
        let time = Mutex(start)
        let proofs = ChainBudget(perSecond: 1, burst: 1, instant: { time.withLock(\.self) })
        #expect(proofs.take())
        let stage = Verify(
            verifier: { verifier }, now: { Self.now },
            budget: UnknownChains(
                proofs: proofs, signatures: ChainBudget(perSecond: 0, burst: 1000, instant: { .now })), cores: 2)
        func genuine() throws -> Delivery<ReceivedNotification> {
            Self.delivery(try material.signed(material.envelope()))
        }
        #expect(try await stage.process([genuine()]).map(\.outcome) == ["chain-deferred"])
        time.withLock { $0 = start + .seconds(1) }
        let results = try await stage.process((try Self.forged(20, material)).map(Self.delivery) + [genuine()])
        #expect(results.map(\.outcome) == Array(repeating: "chain-deferred", count: 20) + ["forwarded"])
    }

    @Test func `Verifier checks no more signatures under unknown chains than its budget allows`() async throws {
        let material = try ForgeryMaterial(now: Self.now)
        let verifier = try material.verifier()
        let forged = try Self.forged(8, material).map { payload in
            // Its signature is made up: without a budget of its own it would cost a signature each time, and no chain.
            Array(payload.prefix { $0 != UInt8(ascii: ".") }) + Array(".e30.".utf8)
                + Base64.encode([UInt8](repeating: 1, count: 64), .url)
        }
        let stage = Verify(
            verifier: { verifier }, now: { Self.now },
            budget: UnknownChains(
                proofs: ChainBudget(perSecond: 0, burst: 100, instant: { .now }),
                signatures: ChainBudget(perSecond: 0, burst: 3, instant: { .now })), cores: 1)
        let outcomes = try await stage.process(forged.map(Self.delivery)).map(\.outcome)
        #expect(outcomes.filter { $0 == "signature" }.count == 3)
        #expect(outcomes.filter { $0 == "chain-deferred" }.count == 5)
    }

    private static func budget(_ proofs: Int) -> UnknownChains {
        UnknownChains(
            proofs: ChainBudget(perSecond: 0, burst: proofs, instant: { .now }),
            signatures: ChainBudget(perSecond: 0, burst: 1000, instant: { .now }))
    }

    /// Apple's intermediate with forged leaves, each with a key that signed its payload.
    private static func forged(_ count: Int, _ material: ForgeryMaterial) throws -> [[UInt8]] {
        let authority = material.authority
        return try (0..<count).map { _ in
            let own = try DevelopmentAuthority(now: now)
            return try material.underChain([own.leaf, authority.intermediate, authority.root], key: own.leafKey)
        }
    }

    private static func delivery(_ payload: [UInt8]) -> Delivery<ReceivedNotification> {
        Delivery(
            message: ReceivedNotification(signedPayload: payload, source: .webhook, receivedAt: now),
            position: LogPosition(topic: Topics.received.name, partition: 0, offset: 0))
    }
}
