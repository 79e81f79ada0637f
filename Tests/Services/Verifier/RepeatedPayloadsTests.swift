import AppStore
import Contracts
import Foundation
import Pipeline
import Records
import Synchronization
import Testing

@testable import Verifier

@Suite struct RepeatedPayloadsTests {
    private static let now = VerifyTests.now

    @Test func `Verifier drops repeats of what it passed on beyond its budget, and never the first record`()
        async throws
    {
        let stage = try Self.stage(repeats: 2)
        let signedPayload = try VerifyTests.signedPayload(by: VerifyTests.authority.get())
        let all = (0..<6).map { Self.delivery(signedPayload, offset: $0) }
        #expect(
            try await Self.outcomes(stage, all)
                == ["forwarded", "forwarded", "forwarded", "repeated", "repeated", "repeated"])
        // Read again, as after a failure: the first one is no repeat of itself.
        #expect(try await Self.outcomes(stage, [all[0], all[1]]) == ["forwarded", "repeated"])
        let other = try VerifyTests.signedPayload(by: VerifyTests.authority.get())
        #expect(try await Self.outcomes(stage, [Self.delivery(other, offset: 7)]) == ["forwarded"])
    }

    @Test func `Verifiers that swap partitions after an outage both pass on a payload and its repeat`() async throws {
        let signedPayload = try VerifyTests.signedPayload(by: VerifyTests.authority.get())
        let both = [Self.delivery(signedPayload, offset: 0), Self.delivery(signedPayload, offset: 9)]
        for (own, others) in [(both[0], both[1]), (both[1], both[0])] {
            let revocations = Mutex(0)
            var stage = try Self.stage(repeats: 0)
            stage.revocations = { revocations.withLock(\.self) }
            // Kafka took no output, and the position did not move.
            #expect(try await Self.outcomes(stage, [own]) == ["forwarded"])
            #expect(try await Self.outcomes(stage, [own, others]) == ["forwarded", "repeated"])
            revocations.withLock { $0 += 1 }
            #expect(try await Self.outcomes(stage, [others]) == ["forwarded"])
        }
    }

    @Test func `Verifier passes what recovery puts back, however often it was posted`() async throws {
        let stage = try Self.stage(repeats: 0)
        let signedPayload = try VerifyTests.signedPayload(by: VerifyTests.authority.get())
        #expect(try await Self.outcomes(stage, [Self.delivery(signedPayload, offset: 0)]) == ["forwarded"])
        for source in [NotificationSource.history, .replay] {
            let again = Self.delivery(signedPayload, offset: 1, source: source)
            #expect(try await Self.outcomes(stage, [again]) == ["forwarded"])
        }
    }

    @Test func `Verifier decides repeats of what it rejected in the slower lane`() async throws {
        let stage = try Self.stage(repeats: 1)
        let signedPayload = try VerifyTests.signedPayload(
            by: VerifyTests.authority.get(), bundleId: "com.example.other")
        let all = (0..<4).map { Self.delivery(signedPayload, offset: $0) }
        #expect(
            try await Self.outcomes(stage, all)
                == ["app-unknown", "app-unknown", "repeat-deferred", "repeat-deferred"])
        #expect(VerifyReason.repeatDeferred.isDeferred)
        #expect(!VerifyReason.repeated.isDeferred)
        #expect(VerifyReason(rawValue: "repeated") == .repeated)
    }

    @Test func `BoundedTable drops the entry that was added first`() {
        var table = BoundedTable<Int, Int>(capacity: 2)
        for number in 0..<3 { table[number] = number }
        table[2] = 7
        #expect(table[0] == nil)
        #expect(table[1] == 1)
        #expect(table[2] == 7)
    }

    private static func stage(repeats: Int) throws -> Verify {
        let verifier = try VerifyTests.verifier()
        return Verify(
            verifier: { verifier }, now: { now },
            repeats: RepeatedPayloads(budget: ChainBudget(perSecond: 0, burst: repeats, instant: { .now })), cores: 2)
    }

    private static func delivery(
        _ payload: [UInt8], offset: Int64, source: NotificationSource = .webhook
    ) -> Delivery<ReceivedNotification> {
        Delivery(
            message: ReceivedNotification(signedPayload: payload, source: source, receivedAt: now),
            position: LogPosition(topic: Topics.received.name, partition: 0, offset: offset))
    }

    private static func outcomes(
        _ stage: Verify, _ deliveries: [Delivery<ReceivedNotification>]
    ) async throws -> [String] {
        try await stage.process(deliveries).map(\.outcome)
    }
}
