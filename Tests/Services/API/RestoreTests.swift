import AppStore
import Contracts
import Foundation
import Kafka
import Signatures
import Storage
import Subscriptions
import TestSupport
import Testing

@testable import API

@Suite struct RestoreTests {
    static let account = UUID()

    @Test func `A purchase without an account belongs to the one that uploads it first`() async throws {
        try await UploadFixture.with { fixture in
            let signed = try fixture.transaction()
            let first = try await fixture.upload([signed], of: Self.account)
            #expect(first.access.contains("monthly"))
            try await fixture.apply(fixture.records(1))
            fixture.api.clock.advance(by: 1)
            try await fixture.api.keys.turn()
            let second = UUID()
            let answer = try await fixture.upload([signed], to: "/v1/restores", of: second)
            #expect(answer.access == "[]")
            #expect(answer.json?["withheld"]?.elements.first?["reason"]?.string == "otherAccount")
            #expect(try await fixture.entitlements(of: Self.account).access == first.access)
            #expect(try await fixture.entitlements(of: second).access == "[]")
        }
    }

    @Test(arguments: [(SharingPolicy.lastRestoreWins, true), (.lastRestoreWinsIfLapsed, false), (.firstWins, false)])
    func `A restore moves a purchase that is in use as the policy says, and an upload never does`(
        policy: SharingPolicy, isMoved: Bool
    ) async throws {
        try await UploadFixture.with { fixture in
            let connection = TestDatabase.connection(fixture.api.database)
            try await SharingStore(connection).setPolicy(
                policy, of: ForgeryMaterial.bundleId, in: .production, at: UploadFixture.now)
            await connection.close()
            let signed = try fixture.transaction(of: Self.account)
            _ = try await fixture.upload([signed], of: Self.account)
            try await fixture.apply([fixture.received(signed)])
            fixture.api.clock.advance(by: 1)
            try await fixture.api.keys.turn()
            let second = UUID()
            #expect(try await fixture.upload([signed], of: second).access == "[]")
            let restored = try await fixture.upload([signed], to: "/v1/restores", of: second)
            #expect(restored.access.contains("monthly") == isMoved)
            #expect(try await fixture.entitlements(of: second).access == restored.access)
            let first = try await fixture.entitlements(of: Self.account)
            #expect(first.access.contains("monthly") == !isMoved)
        }
    }

    @Test func `A lapsed purchase that another account restores and then buys again is its own`() async throws {
        try await UploadFixture.with { fixture in
            let connection = TestDatabase.connection(fixture.api.database)
            try await SharingStore(connection).setPolicy(
                .lastRestoreWinsIfLapsed, of: ForgeryMaterial.bundleId, in: .production, at: UploadFixture.now)
            await connection.close()
            let lapsed = try fixture.transaction(of: Self.account) {
                $0.expiresDate = UploadFixture.now.addingTimeInterval(-30)
            }
            _ = try await fixture.upload([lapsed], of: Self.account)
            try await fixture.apply([fixture.received(lapsed)])
            let second = UUID()
            let restored = try await fixture.upload([lapsed], to: "/v1/restores", of: second)
            #expect(restored.access == "[]", "it has lapsed")
            let renewed = try fixture.transaction(of: Self.account) {
                $0.transactionId = "2000000000000077"
                $0.purchaseDate = UploadFixture.now.addingTimeInterval(-1)
            }
            try await fixture.apply([fixture.received(renewed)])
            #expect(try await fixture.entitlements(of: second).access.contains("monthly"))
            #expect(try await fixture.entitlements(of: Self.account).access == "[]")
        }
    }
}
