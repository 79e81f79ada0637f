import Foundation
import Postgres
import Refunds
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// What a policy decides by, as the ledger and the transactions say it.
@Suite(.hangLimit) struct RefundSubjectsTests {
    private static func subject(
        _ fixture: RefundFixture, of key: RefundKey = RefundFixture.key, knownAt minute: Double = 1000
    ) async throws -> RefundSubject {
        let rows = try await fixture.connection.pipeline([
            RefundSubjects.command([key], knownAt: [RefundFixture.at(minute)])
        ])
        return try #require(try RefundSubjects.subjects(rows[0]).first ?? nil)
    }

    @Test func `A refund counts also where the transaction alone tells of it, from when that was stored`()
        async throws
    {
        try await RefundFixture.use { fixture async throws in
            func know(_ id: String, minute: Double, _ change: (inout TransactionFacts) -> Void) async throws {
                try await fixture.apply("TRANSACTION", minute: minute, transaction: id, purchase: id) { entry in
                    guard var facts = entry.event?.transaction else { return }
                    facts.purchaseDate = RefundFixture.at(2)
                    facts.signedDate = RefundFixture.at(minute)
                    change(&facts)
                    entry.event?.transaction = facts
                }
            }
            try await know("2", minute: 12) { $0.revocationDate = RefundFixture.at(3) }
            // Of seats the transaction says no date.
            try await know("3", minute: 5) { ($0.quantity, $0.revokedSeatQuantity) = (5, 1) }
            try await know("4", minute: 5) { _ in }
            try await know("5", minute: 5) {
                ($0.revocationDate, $0.revocationType) = (RefundFixture.at(4), "FAMILY_REVOKE")
            }
            try await know("6", minute: 5) {
                ($0.revocationDate, $0.ownership) = (RefundFixture.at(4), "FAMILY_SHARED")
            }
            #expect(try await Self.subject(fixture).refunds == [RefundFixture.at(3), RefundFixture.at(2)])
            #expect(try await Self.subject(fixture, knownAt: 11).refunds == [RefundFixture.at(2)])
            // The notification says when.
            try await fixture.apply("REFUND", minute: 9, transaction: "3", purchase: "3")
            #expect(try await Self.subject(fixture).refunds == [RefundFixture.at(9), RefundFixture.at(3)])
            try await fixture.apply("REFUND_REVERSED", minute: 9.5, transaction: "3", purchase: "3")
            #expect(try await Self.subject(fixture).refunds == [RefundFixture.at(3)])
        }
    }

    @Test(arguments: [("RENEWAL", -590 * 60.0), ("PURCHASE", nil)] as [(String, Double?)])
    func `A renewal that is charged before its period counts as paid, and a purchase is no renewal`(
        reason: String, sinceRenewal: Double?
    ) async throws {
        try await RefundFixture.use(requested: nil) { fixture async throws in
            try await fixture.apply("DID_RENEW", minute: 5, transaction: "7", purchase: "7") { entry in
                entry.event?.transaction?.productType = "Auto-Renewable Subscription"
                entry.event?.transaction?.reason = reason
                entry.event?.transaction?.purchaseDate = RefundFixture.at(600)
                entry.event?.transaction?.signedDate = RefundFixture.at(5)
            }
            try await fixture.apply("CONSUMPTION_REQUEST", minute: 10, transaction: "7", purchase: "7")
            let subject = try await Self.subject(fixture, of: RefundKey(.production, "7"))
            // With the consumable of the fixture.
            #expect(subject.paidTransactions == 2)
            #expect(subject.sinceRenewal == sinceRenewal)
        }
    }

    @Test func `A plan that was made when the tables were small reads few rows when they are large`() async throws {
        try await RefundFixture.use { fixture async throws in
            let connection = fixture.connection
            func addPurchases(_ numbers: Range<Int>) async throws {
                for (table, members) in [
                    ("transaction", "'transaction_id', 'other' || number"),
                    ("subscription", "'app_transaction_id', number::text"),
                ] {
                    _ = try await connection.execute(
                        unsafeSQL: """
                            insert into \(table)
                            select other.*
                            from generate_series(\(numbers.lowerBound), \(numbers.upperBound - 1)) as number
                            cross join lateral jsonb_populate_record(
                                (select held from \(table) held limit 1),
                                jsonb_build_object('original_transaction_id', 'other' || number, \(members))) as other
                            """)
                }
            }
            try await addPurchases(0..<40)
            _ = try await connection.execute(unsafeSQL: "analyze")
            // Postgres may keep the plan of the sixth execution.
            var subjects: [RefundSubject] = []
            for _ in 0..<8 { subjects.append(try await Self.subject(fixture)) }
            try await addPurchases(40..<1000)
            let before = try await LedgerCostTests.counters(connection).read
            #expect(try await Self.subject(fixture) == subjects[0])
            #expect(try await LedgerCostTests.counters(connection).read - before < 200)
        }
    }
}
