import Contracts
import Foundation
import Storage
import Subscriptions
import Synchronization
import TestSupport
import Testing

@testable import API

/// Purchases that restores move between accounts of an app (E6).
struct TransferTests {
    private static let owner = UUID()

    /// An app whose restores move purchases, and a purchase of one account.
    private static func with(
        _ body: (UploadFixture, TransferStore, [UInt8]) async throws -> Void
    ) async throws {
        try await UploadFixture.with { fixture in
            let connection = TestDatabase.connection(fixture.api.database)
            try await SharingStore(connection).setPolicy(
                .lastRestoreWins, of: ForgeryMaterial.bundleId, in: .production, at: UploadFixture.now)
            let signed = try fixture.transaction(of: owner)
            _ = try await fixture.upload([signed], of: owner)
            try await fixture.apply([fixture.received(signed)])
            try await body(fixture, TransferStore(connection), signed)
            await connection.close()
        }
    }

    private static func restore(
        _ signed: [UInt8], to account: UUID, _ fixture: UploadFixture
    ) async throws -> RunningAPI.Answer {
        fixture.api.clock.advance(by: 1)
        try await fixture.api.keys.turn()
        return try await fixture.upload([signed], to: "/v1/restores", of: account)
    }

    @Test func `A restore that moves a purchase is an event that names both accounts`() async throws {
        try await Self.with { fixture, transfers, signed in
            let second = UUID()
            #expect(try await Self.restore(signed, to: second, fixture).status == 200)
            // Again: nothing moves.
            #expect(try await Self.restore(signed, to: second, fixture).status == 200)
            #expect(try await transfers.announce(at: fixture.api.clock.now) == 1)
            #expect(try await transfers.announce(at: fixture.api.clock.now) == 0)
            try await fixture.api.eventsAreDecided()
            let timeline = try await fixture.api.get(
                "/v1/subscriptions/2000000000000001/timeline", key: fixture.key)
            let events = try await fixture.api.get("/v1/events?limit=100", key: fixture.key)
            for answer in [timeline, events] {
                let data = try #require(answer.json?["data"]?.elements)
                let moves = data.compactMap { $0["data"] }.filter { $0["event"]?.string == TransferStore.eventName }
                let move = try #require(moves.first)
                #expect(moves.count == 1)
                let change = try #require(move["changes"]?.elements.first)
                #expect(change["fact"]?.string == "account")
                #expect(change["from"]?.string == Self.owner.uuidString.lowercased())
                #expect(change["to"]?.string == second.uuidString.lowercased())
                #expect(move["state"]?["hasAccess"]?.bool == true)
            }
        }
    }

    @Test func `A purchase that has moved too often in 30 days stays, and may move again later`() async throws {
        try await Self.with { fixture, transfers, signed in
            for _ in 0..<TransferStore.limit {
                #expect(try await Self.restore(signed, to: UUID(), fixture).access.contains("monthly"))
            }
            let late = UUID()
            let rejected = try await Self.restore(signed, to: late, fixture)
            #expect(rejected.status == 409 && rejected.problem == "too-many-transfers")
            #expect(try await fixture.entitlements(of: late).access == "[]")
            let told = try await transfers.rejected(since: fixture.api.clock.now.addingTimeInterval(-60))
            #expect(told.map(\.bundleId) == [ForgeryMaterial.bundleId] && told.map(\.purchases) == [1])
            // The pipeline tells of those that moved, and of no other.
            #expect(try await transfers.announce(at: fixture.api.clock.now) == TransferStore.limit)
            let connection = TestDatabase.connection(fixture.api.database)
            try await connection.run(
                unsafeScript: "update purchase_transfer set moved_at = moved_at - interval '31 days'")
            await connection.close()
            #expect(try await Self.restore(signed, to: late, fixture).access.contains("monthly"))
        }
    }

    @Test
    func `A restore that moves nothing is no transfer, and a dry run of one too many is rejected and not counted`()
        async throws
    {
        try await Self.with { fixture, transfers, signed in
            #expect(try await Self.restore(signed, to: Self.owner, fixture).status == 200)
            #expect(try await transfers.announce(at: fixture.api.clock.now) == 0)
            for _ in 0..<TransferStore.limit {
                #expect(try await Self.restore(signed, to: UUID(), fixture).status == 200)
            }
            // Of two restores in one millisecond the lesser token would have the purchase.
            fixture.api.clock.advance(by: 1)
            try await fixture.api.keys.turn()
            let tried = try await fixture.post("/v1/restores") { json in
                json.member("appAccountToken", UUID().uuidString)
                json.member("dryRun", true)
                json.beginArray("signedTransactions")
                json.element(String(decoding: signed, as: UTF8.self))
                json.endArray()
            }
            #expect(tried.problem == "too-many-transfers")
            #expect(try await transfers.rejected(since: .distantPast) == [])
        }
    }

    /// The account of Apple's transaction after two accounts have restored it.
    private static func accountAtApple(whereApplied setsAccountTokens: Bool) async throws -> (
        last: UUID, named: String?
    ) {
        let accounts = [UUID(), UUID()]
        let named = Mutex<String?>(nil)
        try await AppleFixture.with { store, clients in
            let bought = try store.subscribe()
            try await UploadFixture.with(apple: clients, setsAccountTokens: setsAccountTokens) { fixture in
                let connection = TestDatabase.connection(fixture.api.database)
                try await SharingStore(connection).setPolicy(
                    .lastRestoreWins, of: ForgeryMaterial.bundleId, in: .production, at: UploadFixture.now)
                await connection.close()
                for account in accounts {
                    fixture.api.clock.advance(by: 1)
                    try await fixture.api.keys.turn()
                    let answer = try await fixture.post("/v1/restores") { json in
                        json.member("appAccountToken", account.uuidString)
                        json.beginObject("assign")
                        json.member("reason", "the customer's new account")
                        json.endObject()
                        json.beginArray("transactionIds")
                        json.beginObject()
                        json.member("transactionId", bought.transactionId)
                        json.member("environment", "Production")
                        json.endObject()
                        json.endArray()
                    }
                    #expect(answer.status == 200 && answer.access.contains(bought.productId))
                }
                let client = try #require(clients[ForgeryMaterial.bundleId, .production])
                let newest = try await client.transactionInfo(bought.transactionId)
                named.withLock { $0 = newest.value?.appAccountToken }
            }
        }
        return (accounts[1], named.withLock { $0 })
    }

    @Test func `Apple names the account that a restore moved a purchase to, where that is configured (E1)`()
        async throws
    {
        let (last, told) = try await Self.accountAtApple(whereApplied: true)
        #expect(told == last.uuidString.lowercased())
        let (other, untold) = try await Self.accountAtApple(whereApplied: false)
        #expect(untold != other.uuidString.lowercased())
    }
}
