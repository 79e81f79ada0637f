import Chassis
import Contracts
import Development
import Foundation
import Kafka
import Operations
import Pipeline
import Records
import Storage
import TestSupport
import Testing

@testable import Console

@Suite(.hangLimit) struct ReplayTests {
    private static let payload = Array("aGVhZA.e30.c2ln".utf8)

    @Test func `ReplayService sends exactly the frozen list once, and the audit log names the operator and the reason`()
        async throws
    {
        try await Self.with { console, broker, service in
            let cluster = try await Self.cluster(broker)
            try await Self.reject(["early", "early", "late"], at: broker, in: cluster, console)
            let id = try await Self.freeze(reason: "early", console)
            // What is rejected later is not of the list.
            try await Self.reject(["early"], at: broker, in: cluster, console)
            let turns = [try await service.turn()]
            #expect(turns == [false], "no person has asked for it")
            try await Self.request(id, console)
            let (first, second) = (try await service.turn(), try await service.turn())
            #expect(first && !second)
            let received = try await Self.received(broker)
            #expect(received.count == 2)
            #expect(received.allSatisfy { $0.source == .replay && $0.signedPayload == Self.payload })
            let selection = try await console.withOwner { try await DeadLetterSelections($0).find(id) }
            #expect(selection?.sent == 2)
            #expect(selection?.error == nil)
            let actions = try await console.withOwner { try await OperatorActionStore($0).newest(10) }
            #expect(actions.filter { $0.operation == DeadLetterActions.replayed }.count == 2)
            #expect(actions.allSatisfy { $0.actor == "olga" && $0.reason == "the app is configured now" })
        }
    }

    @Test func `ReplayService sends nothing of another cluster's dead letters and says why`() async throws {
        try await Self.with { console, broker, service in
            try await Self.reject(["early"], at: broker, in: "another", console)
            let id = try await Self.freeze(reason: "early", console)
            try await Self.request(id, console)
            let isDone = try await service.turn()
            let received = try await Self.received(broker)
            #expect(isDone && received.isEmpty)
            let selection = try await console.withOwner { try await DeadLetterSelections($0).find(id) }
            #expect(selection?.error?.contains("another") ?? false)
            #expect(selection?.finishedAt != nil)
        }
    }

    @Test func `ReplayService ends the replay of what the topic no longer holds with its reason`() async throws {
        try await Self.with { console, broker, service in
            let cluster = try await Self.cluster(broker)
            try await console.withOwner { connection in
                _ = try await RejectedStore(connection).record([Self.row("early", 0, 4711, cluster)])
            }
            let id = try await Self.freeze(reason: "early", console)
            try await Self.request(id, console)
            let isDone = try await service.turn()
            #expect(isDone)
            let selection = try await console.withOwner { try await DeadLetterSelections($0).find(id) }
            #expect(selection?.error?.contains("no dead letter 0/4711") ?? false)
        }
    }

    @Test func `ReplayService sends nothing of a list with the beginning of a record, and names it`() async throws {
        try await Self.with { console, broker, service in
            let cluster = try await Self.cluster(broker)
            try await Self.reject(["early"], at: broker, in: cluster, console)
            let large = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
            try await Self.reject(["early"], of: large, at: broker, in: cluster, console)
            let id = try await Self.freeze(reason: "early", console)
            try await Self.request(id, console)
            let isDone = try await service.turn()
            let received = try await Self.received(broker)
            #expect(isDone && received.isEmpty)
            let selection = try await console.withOwner { try await DeadLetterSelections($0).find(id) }
            #expect(selection?.error?.contains("only the beginning is kept") ?? false)
            #expect(selection?.finishedAt != nil)
        }
    }

    @Test func `ReplayService takes over by the database's clock, and what is finished stays so`() async throws {
        try await Self.with { console, broker, service in
            let cluster = try await Self.cluster(broker)
            try await Self.reject(["early"], at: broker, in: cluster, console)
            let id = try await Self.freeze(reason: "early", console)
            try await Self.request(id, console)
            // Another console holds it. The clock of this one stands still, at another time than the database's.
            let held = try await console.withOwner { try await DeadLetterSelections($0).claim(seconds: 120) }
            #expect(held?.id == id)
            let early = try await service.turn()
            #expect(!early)
            try await console.withOwner { connection in
                try await connection.run(
                    unsafeScript: "update console_selection set held_until = statement_timestamp()")
            }
            let isDone = try await service.turn()
            #expect(isDone)
            let selection = try await console.withOwner { connection in
                let selections = DeadLetterSelections(connection)
                try await selections.settle(id, finishedAt: nil, sent: nil, error: "late")
                return try await selections.find(id)
            }
            #expect(selection?.finishedAt != nil && selection?.error == nil)
            let received = try await Self.received(broker)
            #expect(received.count == 1)
        }
    }

    private static func with(
        _ body: (RunningConsole, DevelopmentBroker, ReplayService) async throws -> Void
    ) async throws {
        let broker = try DevelopmentBroker(routes: Topics.all)
        defer { withExtendedLifetime(broker) {} }
        try await RunningConsole.with { console in
            let producer = try Producer(broker.configuration, logger: .silent)
            let pool = ConnectionPool([TestDatabase.connection(console.database)])
            let service = ReplayService(
                database: pool, kafka: broker.configuration, producer: producer, seal: RecordSeal(),
                clock: ProcessClock(now: { RunningConsole.now }, instant: { .now }), logger: .silent)
            try await body(console, broker, service)
            await producer.close(deadline: .seconds(5))
            await pool.close()
        }
    }

    private static func cluster(_ broker: DevelopmentBroker) async throws -> String {
        let log = try await DeadLetterLog(broker.configuration)
        await log.close()
        return log.cluster
    }

    /// Dead letters in the topic and, by their places there, in the index.
    private static func reject(
        _ reasons: [String], of payload: [UInt8] = Self.payload, at broker: DevelopmentBroker, in cluster: String,
        _ console: RunningConsole
    ) async throws {
        let producer = try Producer(broker.configuration, logger: .silent)
        try await producer.send(
            reasons.map { reason in
                let received = ReceivedNotification(
                    signedPayload: payload, source: .webhook, receivedAt: RunningConsole.now)
                return ProducerRecord(
                    Topics.rejected,
                    DeadLetter(
                        original: received.record(), stage: "verifier", reason: reason, message: "it is so",
                        position: LogPosition(topic: Topics.received.name, partition: 0, offset: 1),
                        rejectedAt: RunningConsole.now, attempts: 1, build: "test"))
            })
        await producer.close(deadline: .seconds(5))
        let log = try await DeadLetterLog(broker.configuration)
        let deadLetters = try await log.deadLetters()
        await log.close()
        try await console.withOwner { connection in
            _ = try await RejectedStore(connection).record(
                deadLetters.map { row($0.deadLetter.reason, $0.id.partition, $0.id.offset, cluster) })
        }
    }

    private static func row(_ reason: String, _ partition: Int32, _ offset: Int64, _ cluster: String) -> RejectedRow {
        RejectedRow(
            cluster: cluster, position: LogPosition(topic: Topics.rejected.name, partition: partition, offset: offset),
            stage: "verifier", reason: reason, message: "it is so", rejectedAt: RunningConsole.now)
    }

    private static func freeze(reason: String, _ console: RunningConsole) async throws -> UUID {
        let id = UUID()
        try await console.withOwner { connection in
            try await DeadLetterSelections(connection).freeze(
                DeadLetterGroups.Criteria(reason: reason), id: id, by: "olga", in: "words", command: "command",
                at: RunningConsole.now)
        }
        return id
    }

    private static func request(_ id: UUID, _ console: RunningConsole) async throws {
        try await console.withOwner { connection in
            let isRequested = try await DeadLetterSelections(connection).requestReplay(
                id, by: "olga", note: "the app is configured now", at: RunningConsole.now)
            #expect(isRequested)
        }
    }

    private static func received(_ broker: DevelopmentBroker) async throws -> [ReceivedNotification] {
        try await broker.messages(of: Topics.received)
    }
}
