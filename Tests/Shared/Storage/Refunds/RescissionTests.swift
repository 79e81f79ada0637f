import Contracts
import Foundation
import Postgres
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// A parent's withdrawal of the consent to a child's use of the app (`RESCIND_CONSENT`).
@Suite struct RescissionTests {
    /// The notification about one of Apple's customers.
    static func entry(of customer: String, minute: Double, _ fixtures: inout Fixtures) -> LedgerEntry {
        var entry = RefundRequestTests.entry("RESCIND_CONSENT", minute: minute, &fixtures)
        (entry.event, entry.originalTransactionId, entry.bundleId) = (nil, nil, RefundFixture.app)
        entry.notification.decoded = Array(
            #"{"appData":{"signedAppTransactionInfo":{"appTransactionId":"\#(customer)"}}}"#.utf8)
        return entry
    }

    static func apply(
        of customer: String, minute: Double, _ connection: PostgresConnection
    ) async throws {
        var fixtures = Fixtures(seed: UInt64(minute) + 500)
        _ = try await LedgerStore(connection).apply(
            [entry(of: customer, minute: minute, &fixtures)], moving: [], recordedAt: RefundFixture.at(minute))
    }

    @Test func `A withdrawal counts after retention dropped its payload, until the consent is given again`()
        async throws
    {
        try await RefundFixture.use { fixture async throws in
            try await fixture.apply("ONE_TIME_CHARGE", minute: 2) { entry in
                entry.event?.transaction?.appTransactionId = "70"
                entry.event?.transaction?.signedDate = RefundFixture.at(2)
            }
            try await Self.apply(of: "71", minute: 6, fixture.connection)
            let store = ConsentStore(fixture.connection)
            func rescindedAt() async throws -> Date? {
                try await store.rescindedAt(of: RefundFixture.account, RefundFixture.app, in: .production)
            }
            #expect(try await rescindedAt() == nil)
            try await Self.apply(of: "70", minute: 5, fixture.connection)
            try await fixture.connection.run(unsafeScript: "delete from notification_payload")
            #expect(try await rescindedAt() == RefundFixture.at(5))
            #expect(try await fixture.look(11) == .withheld(.consent))
            try await fixture.consent(true, minute: 12)
            #expect(try await fixture.sending(12) != nil)
        }
    }

    @Test func `A withdrawal counts for an account that uploaded the purchase and that Apple does not name`()
        async throws
    {
        try await RefundFixture.use { fixture async throws in
            try await fixture.apply("ONE_TIME_CHARGE", minute: 2, transaction: "2", purchase: "2") { entry in
                entry.event?.transaction?.appAccountToken = nil
                entry.event?.transaction?.appTransactionId = "72"
            }
            try await Self.apply(of: "72", minute: 5, fixture.connection)
            let store = ConsentStore(fixture.connection)
            func rescindedAt() async throws -> Date? {
                try await store.rescindedAt(of: RefundFixture.account, RefundFixture.app, in: .production)
            }
            #expect(try await rescindedAt() == nil)
            try await CustomerStore(fixture.connection).add([
                AccountClaim(
                    key: SubscriptionKey(environment: .production, originalTransactionId: "2"),
                    bundleId: RefundFixture.app, appTransactionId: nil,
                    appAccountToken: RefundFixture.account.uuidString.lowercased(), evidence: .signed,
                    since: RefundFixture.at(6))
            ])
            #expect(try await rescindedAt() == RefundFixture.at(5))
        }
    }

    @Test(arguments: [false, true])
    func `A complete erasure removes the customer's withdrawal, unless another account is of the same customer`(
        isShared: Bool
    ) async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 910)
            let customer = "7000000123"
            var entries = [
                try ErasureStoreTests.entry(&fixtures, account: ErasureStoreTests.token, customer: customer)
            ]
            if isShared {
                entries.append(
                    try ErasureStoreTests.entry(
                        &fixtures, purchase: "2", account: ErasureStoreTests.other, customer: customer))
            }
            var rescission = Self.entry(of: customer, minute: 5, &fixtures)
            rescission.bundleId = ErasureStoreTests.app
            try await ErasureStoreTests.apply(entries + [rescission], connection)
            let other = try #require(UUID(uuidString: ErasureStoreTests.other))
            for extent in [ErasureStore.Extent.detach, .erase] {
                _ = try await ErasureStoreTests.forget(extent, connection)
                let left = try await ErasureStoreTests.tables(with: customer, connection)
                #expect(left.contains("notification_payload") == (isShared || extent == .detach))
                #expect(left.contains("notification") == (isShared || extent == .detach))
                let rescindedAt = try await ConsentStore(connection).rescindedAt(
                    of: other, ErasureStoreTests.app, in: .production)
                #expect((rescindedAt != nil) == isShared)
            }
            // Redelivered: the notification is known, and nothing comes back.
            try await ErasureStoreTests.apply([rescission], connection)
            #expect(try await ErasureStoreTests.tables(with: customer, connection).contains("notification") == isShared)
        }
    }
}
