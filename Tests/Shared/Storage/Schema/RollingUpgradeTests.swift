import Contracts
import Foundation
import Postgres
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// What a state-updater stores that writes the ledger alone.
@Suite struct RollingUpgradeTests {
    private static let account = RefundFixture.account

    /// A row of the ledger with its payload.
    private static func store(_ entry: LedgerEntry, _ payload: String, _ connection: PostgresConnection) async throws {
        _ = try await connection.execute(
            Statement(
                unsafeSQL: """
                    with stored as (
                        insert into notification (
                            signed_at, received_at, recorded_at, kafka_offset, notification_uuid, environment,
                            kafka_partition, has_advanced, is_lifecycle_event, is_revoked, has_added_seats, source,
                            notification_type, bundle_id, original_transaction_id, transaction_id)
                        values (
                            $1::timestamptz, now(), now(), 0, $2::uuid, 'Production', 0, true, false, false, false, 'webhook',
                            $3::text, $4::text, $5::text, $6::text)
                        returning notification_uuid, recorded_at
                    )
                    insert into notification_payload (recorded_at, notification_uuid, decoded, signed_original, chains)
                    select recorded_at, notification_uuid, $7::json, '', '{}'
                    from stored
                    """), entry.signedDate, entry.notificationUUID, entry.notificationType,
            entry.event?.bundleId ?? entry.bundleId, entry.event?.key.originalTransactionId,
            entry.event?.transaction?.transactionId, JSONText(payload))
    }

    @Test(arguments: 76...79 as ClosedRange<UInt64>)
    func `Refund requests that an earlier state-updater stores have their rows, in any order`(seed: UInt64) async throws
    {
        var fixtures = Fixtures(seed: seed)
        let types = ["CONSUMPTION_REQUEST", "CONSUMPTION_REQUEST", "REFUND", "REFUND_DECLINED", "REFUND_REVERSED"]
        let reasons = ["LEGAL", "OTHER", nil]
        let entries = (0..<24).map { index in
            var entry = RefundRequestStoreTests.entry(
                types.randomElement(using: &fixtures.generator) ?? "REFUND",
                minute: Double(Int.random(in: 0..<7, using: &fixtures.generator)), transaction: "\(index % 4)",
                reason: reasons.randomElement(using: &fixtures.generator) ?? nil, &fixtures)
            if index % 5 == 0 { entry.event?.bundleId = "com.example.other" }
            return entry
        }
        var copies = Array(entries.prefix(4))
        for place in copies.indices {
            let (uuid, signed) = (fixtures.uuid(), copies[place].signedDate ?? Fixtures.epoch)
            copies[place].notification.notificationUUID = uuid
            copies[place].event?.version = EventVersion(signedDate: signed, notificationUUID: uuid)
        }
        try await TestDatabase.use { [copies] database async throws in
            let connection = TestDatabase.connection(database)
            for entry in entries {
                let reason = entry.event?.consumptionRequestReason.map { "\"\($0)\"" } ?? "null"
                try await Self.store(entry, #"{"data":{"consumptionRequestReason":\#(reason)}}"#, connection)
            }
            #expect(
                try await RefundRequestStoreTests.rows(connection)
                    == RefundRequestStoreTests.expected(entries.compactMap(\.event)))
            // Once more, by a state-updater of this release, that writes the same.
            _ = try await LedgerStore(connection).apply(copies, moving: [], recordedAt: Fixtures.now)
            #expect(
                try await RefundRequestStoreTests.rows(connection)
                    == RefundRequestStoreTests.expected((entries + copies).compactMap(\.event)))
        }
    }

    @Test func `A withdrawal by a parent that an earlier state-updater stores counts without its payload`() async throws
    {
        try await TestDatabase.use { database async throws in
            var fixtures = Fixtures(seed: 80)
            let connection = TestDatabase.connection(database)
            try await connection.run(
                unsafeScript: """
                    insert into account_app (recorded_at, app_account_token, environment, evidence, bundle_id, identity,
                        original_application_version)
                    values (now(), '\(Self.account)', 'Production', 'signed', '\(RefundFixture.app)', '70', '1')
                    """)
            for (minute, customer) in [(4.0, "70"), (14, "71")] {
                let entry = RescissionTests.entry(of: customer, minute: minute, &fixtures)
                try await Self.store(entry, String(decoding: entry.notification.decoded, as: UTF8.self), connection)
            }
            // Postgres reads nothing of a payload with a NUL.
            let odd = RescissionTests.entry(of: "70", minute: 20, &fixtures)
            try await Self.store(
                odd, #"{"a":"\u0000","appData":{"signedAppTransactionInfo":{"appTransactionId":"70"}}}"#, connection)
            try await connection.run(unsafeScript: "delete from notification_payload")
            #expect(try await Self.rescindedAt(connection) == RefundFixture.at(4))
        }
    }

    private static func rescindedAt(_ connection: PostgresConnection) async throws -> Date? {
        try await ConsentStore(connection).rescindedAt(of: account, RefundFixture.app, in: .production)
    }
}
