import Contracts
import Foundation
import Pipeline
import Postgres
import Records
import Storage

/// The project's code on one database.
struct Ledger {
    private let connection: PostgresConnection
    private let store: LedgerStore
    private let seen: SeenNotificationStore
    private let place = Place()

    /// The stored position, which every transaction moves.
    private final class Place {
        var offset: Int64 = 0
    }

    init(_ url: String, isMigrated: Bool, plansOnce: Bool = false) async throws {
        connection = DatabaseServer.connection(url, plansOnce: plansOnce)
        store = LedgerStore(connection)
        seen = SeenNotificationStore(connection)
        if !isMigrated {
            _ = try await Migrator(connection).migrate()
            _ = try await RetentionStore(connection).prepare(now: Date())
        }
        let stored = try await PositionStore(connection).establish(
            cluster: "cluster", group: "benchmark",
            lowWatermarks: [LogPosition(topic: Topics.unique.name, partition: 0, offset: 0)])
        place.offset = stored.first?.offset ?? 0
    }

    func close() async { await connection.close() }

    /// One transaction.
    func apply(_ samples: SampleBatches) async throws -> Int {
        let batch = samples.nextBatch()
        let next = place.offset + Int64(batch.count)
        let move = PositionMove(
            cluster: "cluster", group: "benchmark", topic: Topics.unique.name, partition: 0, expected: place.offset,
            next: next)
        guard case .applied(let applied) = try await store.apply(batch, moving: [move], recordedAt: Date()),
            applied.inserted == batch.count
        else { throw Unexpected() }
        place.offset = next
        return batch.count
    }

    func rate(_ samples: SampleBatches, seconds: Double) async throws -> Double {
        try await perSecond(seconds) { try await apply(samples) }
    }

    /// Like the state-updater: reads a batch of records, makes their events and applies them, as the same notifications of
    /// other customers, since the ledger takes each only once.
    func stateUpdaterRate(_ samples: SampleBatches, seconds: Double) async throws -> Double {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        return try await perSecond(seconds) {
            let read = await samples.nextRecords().concurrentMap(cores: cores) { record in
                try? LedgerEntry(UniqueNotification(record.wire).notification(), position: record.position)
            }
            guard read.allSatisfy({ $0 != nil && $0?.fault == nil }) else { throw Unexpected() }
            return try await apply(samples)
        }
    }

    /// Answers per second about what one account may use now.
    func accessRate(of tokens: [String], seconds: Double) async throws -> Double {
        let store = AccessStore(connection)
        var next = 0
        return try await perSecond(seconds) {
            let token = tokens[next % tokens.count]
            next += 1
            let access = try await store.access(
                ofAccount: token, of: "com.example.app", in: .production, at: Date())
            guard access != nil else { throw Unexpected() }
            return 1
        }
    }

    func seenRate(_ samples: SampleBatches, seconds: Double) async throws -> Double {
        try await perSecond(seconds) {
            let now = Date()
            let batch = samples.nextBatch().map {
                SeenNotification(
                    notificationUUID: $0.notification.notificationUUID, position: $0.position, seenAt: now,
                    isRedelivery: false)
            }
            guard try await seen.markSeen(batch).allSatisfy({ $0 }) else { throw Unexpected() }
            return batch.count
        }
    }

    /// Rows of each table beside those of `notification`.
    static func rowsPerNotification(_ connection: PostgresConnection, prefix: String = "") async throws -> String {
        func count(_ table: String) async throws -> Int64 {
            let sql = "select count(*) as count from \(prefix)\(table)"
            return try await connection.execute(Statement(unsafeSQL: sql))[0].value("count")
        }
        var counts: [String] = []
        let notifications = Double(try await count("notification"))
        for table in Reference.tables where table != "notification" {
            counts.append(String(format: "%@ %.2f", table, Double(try await count(table)) / notifications))
        }
        return counts.joined(separator: ", ")
    }
}

/// The database did not apply a new batch as expected.
struct Unexpected: Error {}
