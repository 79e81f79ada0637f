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
        let stage = IndexDeadLetters(
            cluster: { "c" }, quota: HourlyQuota(perHour: 2, now: { Self.hour.addingTimeInterval(7200) }))
        func indexed(_ deadLetters: [DeadLetter]) async throws -> Int {
            let deliveries = deadLetters.map {
                Delivery(message: $0, position: LogPosition(topic: "t", partition: 0, offset: 0))
            }
            return try await stage.process(deliveries).count { if case .forward = $0 { true } else { false } }
        }
        #expect(try await indexed((0..<5).map { _ in Self.deadLetter(.signature) }) == 2)
        #expect(try await indexed((0..<5).map { _ in Self.deadLetter(.malformed) }) == 2)
        #expect(
            try await indexed((0..<5).map { _ in Self.deadLetter(.signature, at: Self.hour.addingTimeInterval(3600)) })
                == 2
        )
    }

    @Test func `IndexDeadLetters indexes without end what Apple signed or a service sent`() async throws {
        let stage = IndexDeadLetters(cluster: { "c" }, quota: HourlyQuota(perHour: 0, now: { Self.hour }))
        for deadLetter in [
            Self.deadLetter(.body), Self.deadLetter(.appUnknown), Self.deadLetter(.signature, source: .history),
            Self.deadLetter(.signature, stage: "state-updater"),
        ] {
            let delivery = Delivery(message: deadLetter, position: LogPosition(topic: "t", partition: 0, offset: 0))
            guard case .forward = try await stage.process([delivery])[0] else {
                Issue.record("\(deadLetter.reason) of \(deadLetter.stage) is not indexed")
                continue
            }
        }
    }

    private static func deadLetter(
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
