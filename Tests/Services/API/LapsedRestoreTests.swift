import AppStore
import Contracts
import Foundation
import Postgres
import Storage
import Subscriptions
import TestSupport
import Testing

@testable import API
@testable import AppStoreSamples

/// The policy `lastRestoreWinsIfLapsed`: what counts as lapsed, and what Apple says after the restore.
@Suite struct LapsedRestoreTests {
    private static let day = 86_400.0

    private struct Case: Sendable {
        var name: String
        var isLapsed: Bool
        var change: @Sendable (inout JWSTransactionDecodedPayload) -> Void
    }

    /// - Parameters:
    ///   - end: days from now; nil where it has none.
    ///   - refund: days from now.
    private static func purchase(
        _ type: TransactionType = .autoRenewableSubscription, from start: Double, to end: Double?,
        refunded refund: Double? = nil
    ) -> @Sendable (inout JWSTransactionDecodedPayload) -> Void {
        { transaction in
            transaction.type = type
            transaction.transactionReason = .purchase
            if type != .autoRenewableSubscription { transaction.subscriptionGroupIdentifier = nil }
            transaction.purchaseDate = UploadFixture.now.addingTimeInterval(start * day)
            transaction.expiresDate = end.map { UploadFixture.now.addingTimeInterval($0 * day) }
            transaction.revocationDate = refund.map { UploadFixture.now.addingTimeInterval($0 * day) }
        }
    }

    private static let cases = [
        Case(name: "runs", isLapsed: false, change: purchase(from: -10, to: 20)),
        Case(name: "ended, and a renewal may be on its way", isLapsed: false, change: purchase(from: -33, to: -3)),
        Case(name: "ended for good", isLapsed: true, change: purchase(from: -100, to: -70)),
        Case(name: "refunded", isLapsed: true, change: purchase(from: -10, to: 20, refunded: -1)),
        Case(name: "for ever", isLapsed: false, change: purchase(.nonConsumable, from: -10, to: nil)),
        Case(
            name: "for ever, and refunded", isLapsed: true,
            change: purchase(.nonConsumable, from: -10, to: nil, refunded: -1)),
        Case(name: "a consumable", isLapsed: false, change: purchase(.consumable, from: -10, to: nil)),
        Case(
            name: "a season of unknown length", isLapsed: false,
            change: purchase(.nonRenewingSubscription, from: -10, to: nil)),
        Case(
            name: "a season of unknown length, and refunded", isLapsed: false,
            change: purchase(.nonRenewingSubscription, from: -10, to: nil, refunded: -1)),
        Case(
            name: "a season that is over", isLapsed: true,
            change: purchase(.nonRenewingSubscription, from: -40, to: -10)),
    ]

    private static func with(
        _ body: (UploadFixture, (String) async throws -> [UUID]) async throws -> Void
    ) async throws {
        try await UploadFixture.with { fixture in
            let connection = TestDatabase.connection(fixture.api.database)
            try await fixture.setPolicy(.lastRestoreWinsIfLapsed)
            try await body(fixture) { id in
                let sql = """
                    select app_account_token
                    from purchase_account
                    where original_transaction_id = $1::text and may_use
                    """
                return try await connection.execute(Statement(unsafeSQL: sql), id).map { row in
                    try row.value("app_account_token", as: UUID.self)
                }
            }
            await connection.close()
        }
    }

    @Test(arguments: [true, false])
    func `A restore moves a purchase in each state in which nothing is left of it, and in no other one`(
        isNamed: Bool
    ) async throws {
        try await Self.with { fixture, users in
            for (index, one) in Self.cases.enumerated() {
                let id = "\(2_000_000_000_000_000 + index)"
                let (payer, other) = (UUID(), UUID())
                let signed = try fixture.transaction(id, of: isNamed ? payer : nil, one.change)
                _ = try await fixture.upload([signed], of: payer)
                try await fixture.apply([fixture.received(signed)])
                try await fixture.api.pass()
                let answer = try await fixture.upload([signed], to: "/v1/restores", of: other)
                #expect(answer.status == 200, "\(one.name)")
                #expect(try await users(id) == [one.isLapsed ? other : payer], "\(one.name)")
            }
        }
    }

    /// Apple says that it was used at once; what it gives is credited when the backend of the app asks for it.
    @Test func `A restore takes no consumable that is not credited yet`() async throws {
        try await Self.with { fixture, _ in
            let (payer, other) = (UUID(), UUID())
            let id = "2000000000000042"
            let coins = try fixture.transaction(id, of: payer, Self.purchase(.consumable, from: -1, to: nil))
            try await fixture.apply([fixture.received(coins)])
            #expect(try await fixture.upload([coins], to: "/v1/restores", of: other).status == 200)
            func credit(_ account: UUID) async throws -> RunningAPI.Answer {
                try await fixture.api.send(
                    "POST", "/v1/transactions/\(id)/credit", key: fixture.key,
                    json: #"{"appAccountToken": "\#(account.uuidString.lowercased())"}"#)
            }
            #expect(try await credit(other).problem == "conflict")
            #expect(try await credit(payer).status == 201)
        }
    }

    @Test func `What was bought for ever and moved is its buyer's again when the refund is reversed`() async throws {
        try await Self.with { fixture, users in
            let (payer, other) = (UUID(), UUID())
            let id = "2000000000000001"
            let refunded = try fixture.transaction(
                id, of: payer, Self.purchase(.nonConsumable, from: -10, to: nil, refunded: -1))
            try await fixture.apply([fixture.received(refunded)])
            #expect(try await fixture.upload([refunded], to: "/v1/restores", of: other).status == 200)
            #expect(try await users(id) == [other])
            let reversed = try fixture.transaction(id, of: payer) {
                Self.purchase(.nonConsumable, from: -10, to: nil)(&$0)
                $0.signedDate = UploadFixture.now
            }
            try await fixture.apply([fixture.received(reversed)])
            #expect(try await users(id) == [payer])
            #expect(try await fixture.entitlements(of: payer).access != "[]")
            #expect(try await fixture.entitlements(of: other).access == "[]")
        }
    }

    /// A renewal of which nothing is known yet, and a period to come: the payer would be locked out by another account with a copy.
    @Test(arguments: [(-40.0, -10.0), (-33, -1), (2, 32)])
    func `A purchase whose renewal is not known, or that begins later, has not lapsed`(from: Double, to: Double)
        async throws
    {
        try await UploadFixture.with { fixture in
            let connection = TestDatabase.connection(fixture.api.database)
            try await fixture.setPolicy(.lastRestoreWinsIfLapsed)
            let signed = try fixture.material.signed(
                fixture.material.transaction { transaction in
                    transaction.appTransactionId = nil
                    transaction.appAccountToken = nil
                    transaction.purchaseDate = UploadFixture.now.addingTimeInterval(from * 86_400)
                    transaction.expiresDate = UploadFixture.now.addingTimeInterval(to * 86_400)
                })
            let (payer, other) = (UUID(), UUID())
            _ = try await fixture.upload([signed], of: payer)
            try await fixture.apply([fixture.received(signed)])
            fixture.api.clock.advance(by: 1)
            let answer = try await fixture.post("/v1/restores") { json in
                json.member("appAccountToken", other.uuidString)
                json.strings("signedTransactions", of: [String(decoding: signed, as: UTF8.self)])
            }
            #expect(answer.status == 200)
            let users = try await connection.execute(
                unsafeSQL: "select app_account_token from purchase_account where may_use"
            ).map { row in try row.value("app_account_token", as: UUID.self) }
            #expect(users == [payer])
            await connection.close()
        }
    }

    /// Apple says that a purchase took its place: its payer uses that one.
    @Test func `A purchase whose upgrade is not known yet has not lapsed`() async throws {
        try await UploadFixture.with { fixture in
            try await fixture.setPolicy(.lastRestoreWinsIfLapsed)
            let (payer, other) = (UUID(), UUID())
            let bought = try fixture.transaction(of: payer)
            _ = try await fixture.upload([bought], of: payer)
            try await fixture.apply([fixture.received(bought)])
            fixture.api.clock.advance(by: 1)
            let replaced = try fixture.transaction(of: payer) {
                $0.isUpgraded = true
                $0.signedDate = UploadFixture.now
            }
            #expect(try await fixture.upload([replaced], to: "/v1/restores", of: other).status == 200)
            let upgrade = try fixture.transaction(of: payer) {
                $0.transactionId = "2000000000000077"
                $0.transactionReason = .purchase
                $0.purchaseDate = UploadFixture.now.addingTimeInterval(-1)
            }
            try await fixture.apply([fixture.received(replaced), fixture.received(upgrade)])
            #expect(try await fixture.entitlements(of: payer).access.contains("monthly"))
            #expect(try await fixture.entitlements(of: other).access == "[]")
        }
    }

    /// Apple's notification of the new purchase comes after the restore that found the old one lapsed.
    @Test func `A purchase that was bought again before a restore found it lapsed stays the buyer's`() async throws {
        try await UploadFixture.with { fixture in
            let connection = TestDatabase.connection(fixture.api.database)
            try await fixture.setPolicy(.lastRestoreWinsIfLapsed)
            let (payer, other) = (UUID(), UUID())
            let lapsed = try fixture.transaction(of: payer) {
                $0.purchaseDate = UploadFixture.now.addingTimeInterval(-100 * 86_400)
                $0.expiresDate = UploadFixture.now.addingTimeInterval(-70 * 86_400)
            }
            _ = try await fixture.upload([lapsed], of: payer)
            try await fixture.apply([fixture.received(lapsed)])
            try await fixture.api.pass()
            #expect(try await fixture.upload([lapsed], to: "/v1/restores", of: other).status == 200)
            func users() async throws -> [UUID] {
                try await connection.execute(
                    unsafeSQL: "select app_account_token from purchase_account where may_use"
                ).map { row in try row.value("app_account_token", as: UUID.self) }
            }
            #expect(try await users() == [other])
            let again = try fixture.transaction(of: payer) {
                $0.transactionId = "2000000000000077"
                $0.transactionReason = .purchase
                $0.purchaseDate = UploadFixture.now.addingTimeInterval(-1)
                $0.expiresDate = UploadFixture.now.addingTimeInterval(30 * 86_400)
            }
            try await fixture.apply([fixture.received(again)])
            #expect(try await users() == [payer])
            #expect(try await fixture.entitlements(of: payer).access.contains("monthly"))
            #expect(try await fixture.entitlements(of: other).access == "[]")
            await connection.close()
        }
    }

    /// Of the replaced transaction Apple has signed nothing since: it seems to run for a year.
    @Test func `A purchase whose upgrade has lapsed moves with a restore`() async throws {
        try await UploadFixture.with { fixture in
            let connection = TestDatabase.connection(fixture.api.database)
            try await fixture.setPolicy(.lastRestoreWinsIfLapsed)
            let (payer, other) = (UUID(), UUID())
            let year = try fixture.transaction(of: payer) {
                $0.productId = "com.example.reader.yearly"
                $0.transactionReason = .purchase
                $0.purchaseDate = UploadFixture.now.addingTimeInterval(-110 * 86_400)
                $0.expiresDate = UploadFixture.now.addingTimeInterval(255 * 86_400)
            }
            let upgrade = try fixture.transaction(of: payer) {
                $0.transactionId = "2000000000000077"
                $0.transactionReason = .purchase
                $0.purchaseDate = UploadFixture.now.addingTimeInterval(-100 * 86_400)
                $0.expiresDate = UploadFixture.now.addingTimeInterval(-70 * 86_400)
            }
            _ = try await fixture.upload([upgrade], of: payer)
            try await fixture.apply([fixture.received(year), fixture.received(upgrade)])
            try await fixture.api.pass()
            #expect(try await fixture.upload([upgrade], to: "/v1/restores", of: other).status == 200)
            let users = try await connection.execute(
                unsafeSQL: "select app_account_token from purchase_account where may_use"
            ).map { row in try row.value("app_account_token", as: UUID.self) }
            #expect(users == [other])
            await connection.close()
        }
    }
}
