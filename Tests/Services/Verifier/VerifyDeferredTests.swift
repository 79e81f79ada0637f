import AppStore
import Contracts
import Development
import Foundation
import Pipeline
import Signatures
import Testing

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
        #expect(Self.outcomes(try await stage.process([Self.delivery(genuine)])) == ["forwarded"])
        stage.budget = ChainBudget(perSecond: 0, burst: 4, instant: { .now })
        let results = try await stage.process((forged + [genuine]).map(Self.delivery))
        #expect(Self.outcomes(results).filter { $0 == "chain-deferred" }.count == 16)
        #expect(Self.outcomes(results).filter { $0 == "chain-untrusted" }.count == 4)
        #expect(Self.outcomes(results).last == "forwarded")
        // The slower lane rejects the rest with its true reason.
        stage.budget = nil
        let slow = VerifyDeferred(verify: stage, share: 1, clock: ContinuousClock(), instant: { .now })
        let rejected = try await slow.process(forged.map(Self.delivery))
        #expect(Set(Self.outcomes(rejected)) == ["chain-untrusted"])
    }

    @Test func `Deferred record keeps its bytes and headers, and says nothing about this release`() async throws {
        let material = try ForgeryMaterial(now: Self.now)
        let verifier = try material.verifier()
        var stage = Verify(verifier: { verifier }, now: { Self.now }, cores: 1)
        stage.budget = ChainBudget(perSecond: 0, burst: 0, instant: { .now })
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

    private static func outcomes(_ results: [StageResult<VerifiedNotification, VerifyReason>]) -> [String] {
        results.map { result in
            switch result {
            case .forward: "forwarded"
            case .discard(let reason), .deadLetter(let reason, _): reason.rawValue
            }
        }
    }
}
