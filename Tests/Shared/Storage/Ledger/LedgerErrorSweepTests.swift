import Contracts
import Foundation
import Postgres
import Records
import TestSupport
import Testing

@testable import Storage

/// Every statement of `LedgerStore.apply`, with the connection lost before, within and after it, and with an error of every
/// class that is retried: afterwards all rows are in the database once, as without a fault. Prints what became of each.
@Suite(.hangLimit) struct LedgerErrorSweepTests {
    /// One SQLSTATE of most classes that are retried; with `STOREKEEPER_SWEEP` set of every class, and those that are told
    /// apart within a class.
    static let rejections =
        ["25006", "40001", "53100", "55P03", "57014", "57P01", "XX000"]
        + (ProcessInfo.processInfo.environment["STOREKEEPER_SWEEP"] == nil
            ? []
            : [
                "08003", "08006", "25P03", "25P04", "40000", "40003", "40P01", "53200", "53300", "55006", "57P02",
                "57P03",
                "57P04", "57P05", "58000", "58030", "XX001", "XX002",
            ])

    /// Each statement is cut off in three ways, and rejected with two of the errors, which take turns: a statement that is
    /// rejected ends the transaction, whichever it is, so each error is met at several places. The commit, and with
    /// `STOREKEEPER_SWEEP` set each statement, is rejected with all.
    static func faults(of statement: String, number: Int) -> [FaultyWire.Fault] {
        let isWhole = statement == "commit" || ProcessInfo.processInfo.environment["STOREKEEPER_SWEEP"] != nil
        let chosen = isWhole ? rejections : [2 * number, 2 * number + 1].map { rejections[$0 % rejections.count] }
        return [.cutBefore, .cutWithin, .cutAfter] + chosen.map(FaultyWire.Fault.rejected)
    }

    @Test func `Ledger settles every batch once, whatever happens to any statement of its transaction`() async throws {
        let faulty = try await Self.result { database, connection in
            var address = try #require(URLComponents(string: database.url))
            let wire = try FaultyWire(to: UInt16(address.port ?? 5432))
            defer { wire.stop() }
            address.host = "127.0.0.1"
            address.port = Int(wire.port)
            address.queryItems =
                (address.queryItems ?? []) + [
                    URLQueryItem(name: "sslmode", value: "disable"), URLQueryItem(name: "gssencmode", value: "disable"),
                ]
            var relayed = database
            relayed.url = try #require(address.string)
            let store = TestDatabase.connection(relayed)
            var batches = Batches()
            _ = try await Self.settle(&batches, by: store)
            _ = wire.takeExecuted()
            _ = try await Self.settle(&batches, by: store)
            let statements = wire.takeExecuted()
            #expect(statements.first == "begin-read-committed")
            #expect(statements.last == "commit")
            #expect(statements.count > 15)
            for (number, statement) in statements.enumerated() {
                var line: [String] = []
                for fault in Self.faults(of: statement, number: number) {
                    wire.arm(statement, fault)
                    var attempts = 0
                    // Not every batch has rows for every statement.
                    for _ in 1...10 where !wire.hasHappened {
                        attempts = try await Self.settle(&batches, by: store)
                    }
                    #expect(wire.hasHappened, "\(statement) was not sent")
                    let count = try await StatusStore(connection).notifications()
                    #expect(count == batches.sent, "after \(fault) of \(statement)")
                    line.append("\(fault.heading) \(count == batches.sent ? "ok×\(attempts)" : "LOST")")
                }
                print("sweep:", statement.padded, line.joined(separator: ", "))
            }
            await store.close()
            return batches.number
        }
        let undisturbed = try await Self.result { database, _ in
            let store = TestDatabase.connection(database)
            var batches = Batches()
            while batches.number < faulty.batches { _ = try await Self.settle(&batches, by: store) }
            await store.close()
            return batches.number
        }
        for table in LedgerCrashTests.tables {
            #expect(faulty.digests[table] == undisturbed.digests[table], "\(table) is not as without faults")
        }
    }

    /// Batch number `n` of a fixed sequence, about stored and new purchases.
    private struct Batches {
        static let size = 6
        private var fixtures = Fixtures(seed: 4711)
        private(set) var number = 0
        var sent: Int64 { Int64(number * Self.size) }

        mutating func next() -> (entries: [LedgerEntry], move: PositionMove) {
            let first = sent
            number += 1
            return (
                fixtures.entries(Self.size, purchases: Self.size + number * Self.size / 2), Fixtures.move(first, sent)
            )
        }
    }

    /// Applies a batch like the state-updater: retries it after a transient error, until it is applied or the stored offset shows
    /// that it was.
    private static func settle(_ batches: inout Batches, by connection: PostgresConnection) async throws -> Int {
        let (entries, move) = batches.next()
        for attempt in 1...5 {
            do {
                let outcome = try await LedgerStore(connection).apply(
                    entries, moving: [move], recordedAt: Fixtures.now)
                if case .fenced = outcome {
                    let stored = try await PositionStore(connection).all(cluster: move.cluster, group: move.group)
                    #expect(stored.map(\.offset) == [move.next])
                }
                return attempt
            } catch let error as PostgresError where error.isTransient {
                continue
            }
        }
        Issue.record("a batch was not settled in five attempts")
        return 0
    }

    private static func result(
        _ body: (PostgresConfiguration, PostgresConnection) async throws -> Int
    ) async throws -> (batches: Int, digests: [String: String]) {
        try await TestDatabase.use { database in
            let connection = TestDatabase.connection(database)
            _ = try await PositionStore(connection).establish(
                cluster: "cluster", group: "state-updater",
                lowWatermarks: [LogPosition(topic: Fixtures.topic, partition: 0, offset: 0)])
            let batches = try await body(database, connection)
            var digests: [String: String] = [:]
            for table in LedgerCrashTests.tables {
                let digest = Statement(
                    unsafeSQL: """
                        select md5(coalesce(string_agg(line, ',' order by line), '')) as digest
                        from (select (to_jsonb(content) - 'id' - 'changed_by')::text as line from \(table) content) lines
                        """)
                digests[table] = try await connection.execute(digest).first?.value("digest")
            }
            await connection.close()
            return (batches, digests)
        }
    }
}

extension FaultyWire.Fault {
    fileprivate var heading: String {
        switch self {
        case .cutBefore: "before"
        case .cutWithin: "within"
        case .cutAfter: "after"
        case .rejected(let sqlState): sqlState
        }
    }
}

extension String {
    fileprivate var padded: String { padding(toLength: 32, withPad: " ", startingAt: 0) }
}
