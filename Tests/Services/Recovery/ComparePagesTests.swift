import Chassis
import Contracts
import Foundation
import Kafka
import Pipeline
import Postgres
import Records
import Storage
import Subscriptions
import TestSupport
import Testing

@testable import Recovery

@Suite(.serialized, .hangLimit) struct ComparePagesTests {
    static func closing(_ history: History) -> CloseWindows {
        CloseWindows(
            items: RecoveryItemStore(history.connection), windows: RecoveryWindowStore(history.connection),
            now: { History.now },
            liveness: Health(instant: { .now }).livenessProbe("closing", limit: CloseWindows.turnLimit),
            logger: History.logger)
    }

    /// The workers for pages and dead letters, as the process runs them.
    static func services(_ history: History) async throws -> [any Service] {
        try await RecoveryServices(history.context(), newId: { UUID() }).all(api: nil)
    }

    @Test func `recovery republishes missing notifications and closes the window when they have arrived`() async throws
    {
        try await History.use { history async throws in
            let uuids = (0..<45).map { _ in UUID() }
            let present = Array(uuids[..<20])
            let missing = Array(uuids[20...])
            try await history.arrive(present)
            // The second page repeats the end of the first: Apple's pages may overlap after a restart.
            let pages = [uuids[..<20], uuids[15..<35], uuids[35...]].enumerated().map { number, listed in
                history.page(Int64(number), listed.map { History.item($0, ["TIMED_OUT", "SUCCESS"]) })
            }
            try await history.fetch(pages)
            try await whileRunning(try await Self.services(history)) {
                let received = try await history.broker.messages(of: Topics.received, count: missing.count)
                #expect(Set(received.map(\.signedPayload)) == Set(missing.map(History.signedPayload)))
                #expect(received.allSatisfy { $0.source == .history && $0.receivedAt == History.now })
                #expect(received.allSatisfy { $0.traceparent.flatMap { TraceContext($0) } != nil })
                try await becomes("all is listed") { try await history.recoveryWindow().counts.listed == 45 }
                let closing = Self.closing(history)
                // In the pipeline is not in the ledger.
                #expect(try await closing.turn() == 0)
                var window = try await history.recoveryWindow()
                #expect(window.state == .fetched)
                #expect(window.counts == .init(listed: 45, present: 20, missing: 25))
                // Apple's own retries bring some of them, recovery the others; who does it is no matter.
                try await history.arrive(Array(missing[..<10]))
                _ = try await closing.turn()
                try await becomes("some have arrived") { try await history.recoveryWindow().counts.recovered == 10 }
                #expect(try await history.recoveryWindow().state == .fetched)
                try await history.arrive(Array(missing[10...]))
                try await becomes("the window closes") {
                    _ = try await closing.turn()
                    return try await history.recoveryWindow().state == .closed
                }
                window = try await history.recoveryWindow()
                #expect(window.counts == .init(listed: 45, present: 20, missing: 25, recovered: 25))
                #expect(window.counts.stillMissing == 0)
            }
            let items = RecoveryItemStore(history.connection)
            let kept = try await items.items(of: history.window)
            #expect(Set(kept.map(\.notificationUUID)) == Set(missing))
            #expect(kept.allSatisfy { $0.state == .arrived })
            let attempts = try await SendAttemptStore(history.connection).attempts(at: missing[0])
            #expect(attempts.map(\.result) == ["TIMED_OUT", "SUCCESS"])
        }
    }

    @Test func `Notifications that Apple delivered at once and the ledger has leave no attempts behind`() async throws {
        try await History.use { history async throws in
            let (here, lost) = (UUID(), UUID())
            try await history.arrive([here])
            try await history.fetch([
                history.page(0, [History.item(here, ["SUCCESS"]), History.item(lost, ["SUCCESS"])])
            ])
            try await whileRunning(try await Self.services(history)) {
                try await becomes("all is listed") { try await history.recoveryWindow().counts.listed == 2 }
            }
            let attempts = SendAttemptStore(history.connection)
            #expect(try await attempts.attempts(at: here).isEmpty)
            #expect(try await attempts.attempts(at: lost).map(\.result) == ["SUCCESS"])
        }
    }

    @Test func `Crash between Kafka and the database repeats and counts nothing twice`() async throws {
        try await History.use { history async throws in
            let uuids = (0..<10).map { _ in UUID() }
            let unreadable = ["no letter", "nor this"].map {
                HistoryPage.Item(signedPayload: Array($0.utf8), sendAttempts: [])
            }
            try await history.fetch([history.page(0, uuids.map { History.item($0) } + unreadable)])
            let context = try history.context()
            let keeper = try ProducerService(
                try context.settings.kafka(), for: .recovery, of: Topics.plan, logger: History.logger)
            let connection = try await WorkerConnection(
                context, stage: .recovery, part: "pages", reading: Topics.historyPages.route, of: Topics.plan,
                sharing: keeper)
            let nowhere = TestDatabase.connection(
                PostgresConfiguration(url: "postgres://none@127.0.0.1:1/nothing", applicationName: "test"))
            let items = RecoveryItemStore(history.connection)
            let crashing = connection.services(
                running: ComparePages(items: items),
                settlement: RepublishMissing(
                    items: RecoveryItemStore(nowhere), connection: connection,
                    tracing: PublishTracing(tracer: context.tracer, now: { History.now }), now: { History.now }))
            try await whileRunning([keeper] + crashing) {
                // Twice at least: it was produced, it failed, it was tried again.
                _ = try await history.broker.messages(of: Topics.received, count: 20)
            }
            #expect(try await history.recoveryWindow().counts == .init())
            // One for each unreadable item, however often the page was tried.
            #expect(try await history.broker.end(of: Topics.rejected.route) == 2)
            for _ in 0..<2 {
                // The second time everything is repeated from the beginning: the offsets of this group are its own.
                try await whileRunning(try await Self.services(history)) {
                    try await becomes("all is listed") { try await history.recoveryWindow().counts.listed == 12 }
                }
            }
            #expect(try await history.recoveryWindow().counts == .init(listed: 12, missing: 10, unreadable: 2))
            #expect(try await items.items(of: history.window).count == 12)
        }
    }

    @Test func `Page that is read again counts nothing again`() async throws {
        try await History.use { history async throws in
            let uuids = (0..<10).map { _ in UUID() }
            let page = history.page(0, uuids.map { History.item($0) })
            try await history.fetch([page])
            try await history.producer.send([ProducerRecord(Topics.historyPages, page)])
            try await whileRunning(try await Self.services(history)) {
                _ = try await history.broker.messages(of: Topics.received, count: 20)
                try await becomes("all is listed") { try await history.recoveryWindow().counts.listed == 10 }
            }
            #expect(try await history.recoveryWindow().counts == .init(listed: 10, missing: 10))
        }
    }

    @Test func `Page item that cannot be processed is listed by its id and never blocks its window`() async throws {
        try await History.use { history async throws in
            let (good, rejected) = (UUID(), UUID())
            let unreadable = Array("no letter".utf8)
            try await history.fetch([
                history.page(
                    0,
                    [
                        History.item(good), History.item(rejected),
                        HistoryPage.Item(signedPayload: unreadable, sendAttempts: []),
                    ])
            ])
            try await whileRunning(try await Self.services(history)) {
                let received = try await history.broker.messages(of: Topics.received, count: 2)
                try await history.arrive([good])
                // As the verifier does with one that it rejects.
                let record = try #require(received.first { $0.signedPayload == History.signedPayload(rejected) })
                    .record()
                let deadLetter = DeadLetter(
                    original: record, stage: "verifier", reason: "signature", message: "not by Apple",
                    position: LogPosition(topic: Topics.received.name, partition: 0, offset: 1),
                    rejectedAt: History.now, attempts: 1, build: "1")
                try await history.producer.send([ProducerRecord(Topics.rejected, deadLetter)])
                let closing = Self.closing(history)
                try await becomes("the window closes") {
                    _ = try await closing.turn()
                    return try await history.recoveryWindow().state == .closed
                }
            }
            let window = try await history.recoveryWindow()
            #expect(window.counts == .init(listed: 3, missing: 2, recovered: 1, rejected: 1, unreadable: 1))
            let items = RecoveryItemStore(history.connection)
            let failed = try await items.items(of: history.window, states: [.rejected, .unreadable])
            #expect(Set(failed.map(\.reason)) == ["verifier: signature", "unreadable"])
            // Both are in the index of the dead letters, and the bytes are in the log.
            let deadLetters = try await history.broker.messages(of: Topics.rejected, count: 2)
            #expect(Set(deadLetters.map(\.original.value)) == [unreadable, History.signedPayload(rejected)])
            let rows = try await RetentionJobTests.deadLetters(history.connection)
            #expect(Set(rows.map(\.notificationUUID)) == [rejected, nil])
            #expect(rows.allSatisfy { $0.source == "history" && $0.receivedAt == History.now })
        }
    }

    @Test func `Two instances share the pages and count each notification once`() async throws {
        try await History.use { history async throws in
            let uuids = (0..<300).map { _ in UUID() }
            try await history.arrive(Array(uuids[..<100]))
            // Each page repeats the last item of the one before.
            let pages = stride(from: 0, to: 300, by: 10).enumerated().map { number, first in
                history.page(Int64(number), uuids[max(0, first - 1)..<first + 10].map { History.item($0) })
            }
            try await whileRunning(try await Self.services(history)) {
                try await whileRunning(try await Self.services(history)) {
                    try await history.fetch(pages)
                    try await becomes("all is listed") { try await history.recoveryWindow().counts.listed >= 300 }
                    _ = try await history.broker.messages(of: Topics.received, count: 200)
                    try await history.arrive(Array(uuids[100...]))
                    try await becomes("the window closes") {
                        try await history.recoveryWindow().state == .closed
                    }
                }
            }
            let counts = try await history.recoveryWindow().counts
            #expect(counts == .init(listed: 300, present: 100, missing: 200, recovered: 200))
            // A page that is processed again at a rebalance may be published twice.
            let written = Int(try await history.broker.end(of: Topics.received.route))
            let received = try await history.broker.messages(of: Topics.received, count: written)
            #expect(Set(received.map(\.signedPayload)) == Set(uuids[100...].map(History.signedPayload)))
        }
    }

    @Test func `Recovery without API keys logs one line that requests are postponed`() async throws {
        try await History.use { history async throws in
            let lines = LogLines()
            let settings = try history.context().settings
            let api = try settings.appleAPI(
                clock: .init(now: { History.now }, random: { 0 }), logger: lines.logger)
            #expect(api == nil)
            #expect(lines.all.count == 1)
            #expect(lines.all.first?.contains("STOREKEEPER_APP_STORE_API_KEYS_FILE") == true)
        }
    }

    @Test func `Configuration with keys but no apps is rejected`() throws {
        let problems = #expect(throws: ConfigurationProblems.self) {
            try Settings(
                Recovery.Configuration(),
                environment: [
                    "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1", "DATABASE_URL": "postgres://a@b/c",
                    "STOREKEEPER_APP_STORE_API_KEYS_FILE": "/keys.json",
                ])
        }
        #expect(problems?.description.contains("STOREKEEPER_APPS_FILE") == true)
    }
}
