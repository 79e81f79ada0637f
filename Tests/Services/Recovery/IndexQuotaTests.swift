import AppStore
import Contracts
import Foundation
import Pipeline
import Records
import Testing

@testable import Recovery

@Suite struct IndexQuotaTests {
    private static let hour = Date(timeIntervalSince1970: 1_780_002_000)

    @Test func `IndexDeadLetters indexes so many forgeries of a reason in an hour, and the next hour as many again`()
        async throws
    {
        let stage = IndexDeadLetters(cluster: { "c" }, quota: HourlyQuota(perHour: 2))
        func indexed(_ letters: [DeadLetter]) async throws -> Int {
            let deliveries = letters.map {
                Delivery(message: $0, position: LogPosition(topic: "t", partition: 0, offset: 0))
            }
            return try await stage.process(deliveries).count { if case .forward = $0 { true } else { false } }
        }
        #expect(try await indexed((0..<5).map { _ in Self.letter(.signature) }) == 2)
        #expect(try await indexed((0..<5).map { _ in Self.letter(.malformed) }) == 2)
        #expect(
            try await indexed((0..<5).map { _ in Self.letter(.signature, at: Self.hour.addingTimeInterval(3600)) }) == 2
        )
    }

    @Test func `IndexDeadLetters indexes without end what Apple signed or a service sent`() async throws {
        let stage = IndexDeadLetters(cluster: { "c" }, quota: HourlyQuota(perHour: 0))
        for letter in [
            Self.letter(.body), Self.letter(.appUnknown), Self.letter(.signature, source: .history),
            Self.letter(.signature, stage: "state-updater"),
        ] {
            let delivery = Delivery(message: letter, position: LogPosition(topic: "t", partition: 0, offset: 0))
            guard case .forward = try await stage.process([delivery])[0] else {
                Issue.record("\(letter.reason) of \(letter.stage) is not indexed")
                continue
            }
        }
    }

    private static func letter(
        _ reason: VerificationFailureReason, source: NotificationSource = .webhook, stage: String = "verifier",
        at date: Date = hour
    ) -> DeadLetter {
        let received = ReceivedNotification(signedPayload: Array("a.b.c".utf8), source: source, receivedAt: date)
        return DeadLetter(
            original: received.record(), stage: stage, reason: reason.rawValue, message: "m",
            position: LogPosition(topic: Topics.received.name, partition: 0, offset: 1), rejectedAt: date, attempts: 1,
            build: "test")
    }
}
