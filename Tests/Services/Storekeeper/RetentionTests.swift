import Contracts
import Foundation
import Postgres
import Records
import Storage
import TestSupport
import Testing

@testable import Storekeeper

struct RetentionTests {
    private struct Summary: Decodable {
        struct Month: Decodable {
            var month: String
            var state: String
        }

        var ledgerDays: Int
        var months: [Month]
        var deletedSeen: Int?
    }

    /// More than 400 days after the end of 2024-08, and not yet of 2024-09.
    static let now = Date(timeIntervalSince1970: 1_760_000_000)
    static let longAgo = Date(timeIntervalSince1970: 1_724_000_000)

    @Test func `retention counts due notificationUUIDs up to a limit`() async throws {
        struct Counted: Decodable {
            var dueSeen: Int
            var deletedSeen: Int?
        }
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            let store = SeenNotificationStore(connection)
            _ = try await store.markSeen(
                [9.0, 10, 11, 1].enumerated().map { place, days in
                    SeenNotification(
                        notificationUUID: UUID(),
                        position: LogPosition(topic: "notifications.verified", partition: 0, offset: Int64(place)),
                        seenAt: Self.now.addingTimeInterval(-days * 86_400), isRedelivery: false)
                })
            func run(_ arguments: String...) async -> CommandOutcome {
                await CommandOutcome.of(
                    ["retention"] + arguments, environment: database.environment, now: Self.now)
            }
            #expect(await run().text.contains("Seen notificationUUIDs due: 3."))
            #expect(try await run("--json").json(as: Counted.self).dueSeen == 3)
            #expect(try await run("--json", "--seen-days", "10").json(as: Counted.self).dueSeen == 1)
            let done = try await run("--json", "--run").json(as: Counted.self)
            #expect(done.dueSeen == 3 && done.deletedSeen == 3)
            #expect(await run().text.contains("Seen notificationUUIDs due: 0."))
        }
    }

    @Test func `retention shows what is due, and --run deletes it and records the operator`()
        async throws
    {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            _ = try await RetentionStore(connection).prepare(now: Self.longAgo)
            func run(_ arguments: String...) async throws -> Summary {
                let outcome = await CommandOutcome.of(
                    ["retention", "--json"] + arguments, environment: database.environment, now: Self.now)
                #expect(outcome.code == 0, "\(outcome.errorOutput)")
                return try outcome.json()
            }
            for _ in 0..<2 {
                let shown = try await run()
                #expect(shown.ledgerDays == 400 && shown.deletedSeen == nil)
                #expect(shown.months.map(\.state) == ["due", "kept", "kept"])
            }
            #expect(try await run("--ledger-days", "9000").months.map(\.state) == ["kept", "kept", "kept"])
            #expect(try await run("--run", "--note", "disk").months.map(\.state) == ["dropped", "kept", "kept"])
            #expect(try await run().months.map(\.state).prefix(2) == ["kept", "kept"])
            let actions = try await OperatorActionStore(connection).newest(10)
            #expect(actions.map(\.subject) == ["notification_payload_2024_08"])
            #expect(actions.map(\.actor) == ["olga"])
            let low = await CommandOutcome.of(
                ["retention", "--ledger-days", "10"], environment: database.environment, now: Self.now)
            #expect(low.code == 64 && low.errorOutput.contains("--ledger-days is out of range"))
        }
    }

    @Test func `retention --run deletes nothing by a clock that is ahead of the database's`() async throws {
        try await TestDatabase.use { database async throws in
            let store = RetentionStore(TestDatabase.connection(database))
            _ = try await store.prepare(now: Self.longAgo)
            let months = try await store.months()
            let unmoved: @Sendable () -> Date = { Date().addingTimeInterval(86_400) }
            let outcome = await CommandOutcome.of(
                ["retention", "--run"], environment: database.environment, now: Self.now, unmoved: unmoved)
            #expect(outcome.code == 1)
            #expect(outcome.errorOutput.contains("nothing was deleted: this machine's clock is 86"), "\(outcome)")
            #expect(try await store.months() == months)
            let shown = await CommandOutcome.of(
                ["retention"], environment: database.environment, now: Self.now, unmoved: unmoved)
            #expect(shown.code == 0)
        }
    }
}
