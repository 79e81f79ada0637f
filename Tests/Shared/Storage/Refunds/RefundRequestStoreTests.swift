import Contracts
import Foundation
import Postgres
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// The row of a transaction's refund requests, as the state-updater writes it with the ledger.
@Suite struct RefundRequestStoreTests {
    /// A row as text: request, outcome, and whether the scheduler will look at it.
    static func rows(_ connection: PostgresConnection) async throws -> [String] {
        try await connection.execute(
            unsafeSQL: """
                select concat_ws(
                    ' ', transaction_id, original_transaction_id, bundle_id,
                    coalesce(extract(epoch from requested_at - $1::timestamptz)::int / 60, -1), reason, outcome,
                    extract(epoch from outcome_at - $1::timestamptz)::int / 60,
                    case when next_at is null then 'done' else 'due' end) as text
                from refund_request
                order by transaction_id
                """, Fixtures.epoch
        ).map { row in try row.value("text") }
    }

    static func entry(
        _ type: String, minute: Double, transaction: String = "1", reason: String? = nil, _ fixtures: inout Fixtures
    ) -> LedgerEntry {
        var entry = RefundRequestTests.entry(type, minute: minute, transaction: transaction, &fixtures)
        entry.event?.consumptionRequestReason = reason
        return entry
    }

    @Test func `The newest request and the newest outcome count, and a request after the outcome is open`() async throws
    {
        var fixtures = Fixtures(seed: 61)
        let steps: [(entry: LedgerEntry, row: String)] = [
            (Self.entry("REFUND_DECLINED", minute: 5, &fixtures), "1 1 com.example.app -1 declined 5 done"),
            (
                Self.entry("CONSUMPTION_REQUEST", minute: 4, reason: "LEGAL", &fixtures),
                "1 1 com.example.app 4 LEGAL declined 5 done"
            ),
            (
                Self.entry("CONSUMPTION_REQUEST", minute: 6, reason: "OTHER", &fixtures),
                "1 1 com.example.app 6 OTHER declined 5 due"
            ),
            (
                Self.entry("CONSUMPTION_REQUEST", minute: 3, reason: "LEGAL", &fixtures),
                "1 1 com.example.app 6 OTHER declined 5 due"
            ),
            (Self.entry("REFUND", minute: 6, &fixtures), "1 1 com.example.app 6 OTHER refunded 6 done"),
            (Self.entry("REFUND_REVERSED", minute: 9, &fixtures), "1 1 com.example.app 6 OTHER reversed 9 done"),
            (Self.entry("REFUND", minute: 8, &fixtures), "1 1 com.example.app 6 OTHER reversed 9 done"),
        ]
        try await TestDatabase.connected { connection async throws in
            for (entry, row) in steps {
                _ = try await TimelineStoreTests.apply(entry, connection)
                #expect(try await Self.rows(connection) == [row])
            }
        }
    }

    @Test func `A repeated request leaves the time at which the scheduler looks at it`() async throws {
        var fixtures = Fixtures(seed: 62)
        let requests = [1, 2].map { Self.entry("CONSUMPTION_REQUEST", minute: $0, &fixtures) }
        try await TestDatabase.connected { connection async throws in
            func dueIn() async throws -> Int32 {
                try await connection.execute(
                    Statement(
                        unsafeSQL:
                            "select extract(epoch from next_at - $1::timestamptz)::int as seconds from refund_request"),
                    Fixtures.now)[0].value("seconds")
            }
            _ = try await TimelineStoreTests.apply(requests[0], connection)
            #expect(try await dueIn() == 0)
            try await connection.run(unsafeScript: "update refund_request set next_at = next_at + interval '1 minute'")
            _ = try await TimelineStoreTests.apply(requests[1], connection)
            #expect(try await dueIn() == 60)
        }
    }

    @Test func `Notifications without a refund write no row`() async throws {
        var fixtures = Fixtures(seed: 63)
        let entries = (0..<20).map { Self.entry("ONE_TIME_CHARGE", minute: Double($0), &fixtures) }
        let batch = try LedgerBatch(entries)
        #expect(batch.additions(recorded: []).refunds.isEmpty)
        #expect(batch.refundKeys.isEmpty)
    }

    @Test(arguments: 64...75 as ClosedRange<UInt64>)
    func `The row follows from the set of notifications, in any order of arrival and any batches`(
        seed: UInt64
    ) async throws {
        var fixtures = Fixtures(seed: seed)
        let types = ["CONSUMPTION_REQUEST", "CONSUMPTION_REQUEST", "REFUND", "REFUND_DECLINED", "REFUND_REVERSED"]
        let reasons = ["LEGAL", "OTHER", nil]
        let entries = (0..<16).map { index in
            var entry = Self.entry(
                types.randomElement(using: &fixtures.generator) ?? "REFUND",
                // Some at the same moment.
                minute: Double(Int.random(in: 0..<7, using: &fixtures.generator)),
                transaction: "\(index % 4)", reason: reasons.randomElement(using: &fixtures.generator) ?? nil, &fixtures
            )
            if index % 5 == 0 { entry.event?.bundleId = "com.example.other" }
            return entry
        }
        var results: [[String]] = []
        for _ in 0..<3 {
            var rest = (entries + entries).shuffled(using: &fixtures.generator)[...]
            var batches: [[LedgerEntry]] = []
            while !rest.isEmpty {
                batches.append(Array(rest.prefix(.random(in: 1...6, using: &fixtures.generator))))
                rest = rest.dropFirst(batches.last?.count ?? 0)
            }
            results.append(
                try await TestDatabase.use { [batches] database async throws in
                    let connection = TestDatabase.connection(database)
                    for batch in batches {
                        _ = try await LedgerStore(connection).apply(batch, moving: [], recordedAt: Fixtures.now)
                    }
                    return try await Self.rows(connection)
                })
        }
        #expect(results[0] == results[1] && results[1] == results[2])
        #expect(results[0] == Self.expected(entries.compactMap(\.event)))
    }

    /// The rows by the definition: no merging of what was known before.
    static func expected(_ events: [PurchaseEvent]) -> [String] {
        Dictionary(grouping: events) { $0.transaction?.transactionId ?? "" }.sorted { $0.key < $1.key }.map {
            id, events in
            func newest(_ isWanted: (PurchaseEvent) -> Bool) -> PurchaseEvent? {
                events.filter(isWanted).max { $0.version < $1.version }
            }
            func minute(_ event: PurchaseEvent) -> Int {
                Int(event.version.signedDate.timeIntervalSince(Fixtures.epoch)) / 60
            }
            let request = newest { $0.notificationType == "CONSUMPTION_REQUEST" }
            let outcome = newest { $0.notificationType != "CONSUMPTION_REQUEST" }
            let isOpen = request.map { asked in outcome.map { minute(asked) > minute($0) } ?? true } ?? false
            let words: [String?] = [
                id, "1", (request ?? outcome)?.bundleId, "\(request.map(minute) ?? -1)",
                request?.consumptionRequestReason, outcome.flatMap { RefundRequest($0)?.status.rawValue },
                outcome.map { "\(minute($0))" }, isOpen ? "due" : "done",
            ]
            return words.compactMap(\.self).joined(separator: " ")
        }
    }
}
