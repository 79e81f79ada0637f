import Contracts
import Foundation
import StrictJSON
import Testing

@testable import SimulatedAppStore

/// F8.
@Suite struct StatusesTests {
    static let courses: [([LifecycleEvent], Int64)] = [
        ([.subscribe], 1), ([.subscribe, .turnRenewalOff, .expireVoluntarily], 2), ([.subscribe, .failToRenew], 3),
        ([.subscribe, .failToRenewWithGrace], 4), ([.subscribe, .refund], 5),
    ]

    @Test(arguments: courses)
    func `Status is that of the newest event, with both signed objects`(
        events: [LifecycleEvent], status: Int64
    ) async throws {
        try await SimulatorFixture.open { fixture in
            var story = PurchaseFixture()
            for event in events { try fixture.send(story.next(event)) }
            let json = try #require(try await fixture.get("v1/subscriptions/\(story.transactionId)").json)
            #expect(json["environment"]?.string == "Production")
            #expect(json["bundleId"]?.string == "com.example.app")
            #expect(json["appAppleId"]?.int64 == 1_234_567_890)
            let group = try #require(json["data"]?.elements.first)
            #expect(group["subscriptionGroupIdentifier"]?.string == "21447302")
            let item = try #require(group["lastTransactions"]?.elements.first)
            #expect(item["status"]?.int64 == status)
            #expect(item["originalTransactionId"]?.string == story.id)
            let transaction = try fixture.proven(item["signedTransactionInfo"]?.string)
            let renewal = try fixture.proven(item["signedRenewalInfo"]?.string)
            #expect(transaction["transactionId"]?.string == story.transactionId)
            #expect(renewal["originalTransactionId"]?.string == story.id)
            // Neither older nor newer than the newest event: see Subscriber.
            #expect(transaction["signedDate"]?.int64 == story.simulated.now.milliseconds)
        }
    }

    @Test func `Statuses are filtered as requested`() async throws {
        try await SimulatorFixture.open { fixture in
            var story = PurchaseFixture()
            try fixture.send(story.next(.subscribe))
            let path = "v1/subscriptions/\(story.id)"
            #expect(try await fixture.get(path + "?status=1&status=4").json?["data"]?.elements.count == 1)
            #expect(try await fixture.get(path + "?status=2").json?["data"]?.elements.count == 0)
            #expect(try await fixture.get(path + "?status=6").errorCode == 4_000_031)
            #expect(try await fixture.get(path + "?status=x").errorCode == 4_000_031)
        }
    }

    @Test func `One-time purchase has no status, and an unknown id is not found`() async throws {
        try await SimulatorFixture.open { fixture in
            let charge = PurchaseFixture.charge(seed: 2)
            try fixture.send(charge)
            let id = try #require(charge.purchase?.transactionId)
            #expect(try await fixture.get("v1/subscriptions/\(id)").json?["data"]?.elements.count == 0)
            #expect(try await fixture.get("v1/subscriptions/99").errorCode == 4_040_010)
            #expect(try await fixture.get("v1/subscriptions/abc").errorCode == 4_000_006)
            #expect(try await fixture.get("v1/subscriptions/\(id)", in: .sandbox).errorCode == 4_040_010)
        }
    }
}
