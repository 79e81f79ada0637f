import Commands
import Contracts
import Development
import Foundation
import Kafka
import Pipeline
import Postgres
import Storage
import TestSupport
import Testing

@testable import Devkit
@testable import Operations

extension EndToEnd {
    /// Nothing is missed: not in an outage, not behind a receiver that forgets, not while the machinery itself fails.
    struct RecoveryTests {
        /// What `storekeeper recover --json` says of a window.
        private struct Window: Decodable {
            var state: String
            var reason: String
            var listed: Int64
            var missing: Int64
            var recovered: Int64
            var stillMissing: Int64
        }

        @Test func `Ledger equals Apple's record after three days without ingest and a receiver that forgets`()
            async throws
        {
            try await Self.withApple(count: 500, droppingOneIn: 100) { apple in
                try await apple.waitUntil("the pipeline is at work") { try await apple.stored() > 60 }
                _ = try await apple.services.processes.stop("ingest")
                let before = try apple.record().attempts.count
                // An hour of Apple's is a tenth of a second: three days are 7.2 seconds.
                let start = ContinuousClock.now
                try await apple.waitUntil("three days are over, and notifications were sent in them") {
                    try ContinuousClock.now - start > .seconds(8) && apple.record().attempts.count > before + 60
                }
                try await apple.services.processes.restart("ingest")
                try await apple.waitUntil("Apple has sent all, and sent again what it could not deliver") {
                    await apple.control.isFinished()
                }
                let windows = try await Self.recover(apple)
                #expect(windows.allSatisfy { $0.state == "closed" && $0.reason == "manual" && $0.stillMissing == 0 })
                #expect(windows.map(\.missing) == windows.map(\.recovered))
                #expect(windows.reduce(0) { $0 + $1.missing } > 0)
                #expect(apple.receiver.dropped > 0)
                try await Self.expectNothingMissing(apple)
                try await Self.expectNoSecrets(apple)
            }
        }

        @Test func `scheduler recovers what Apple could not deliver, without a command`() async throws {
            try await Self.withApple(count: 250, droppingOneIn: 0) { apple in
                try await apple.waitUntil("the pipeline is at work") { try await apple.stored() > 40 }
                _ = try await apple.services.processes.stop("ingest")
                let before = try apple.record().attempts.count
                try await apple.waitUntil("notifications were sent while ingest was down") {
                    try apple.record().attempts.count > before + 60
                }
                try await apple.services.processes.restart("ingest")
                try await apple.waitUntil("Apple has sent all") { await apple.control.isFinished() }
                try await Self.waitUntilNothingIsMissing(apple)
                let windows = RecoveryWindowStore(apple.ledger.connection)
                try await apple.waitUntil("the windows that brought it have closed") {
                    try await windows.windows().contains { $0.state == .closed && $0.counts.recovered > 0 }
                }
                #expect(try await windows.windows().allSatisfy { $0.reason != .manual })
                try await Self.expectNothingMissing(apple)
            }
        }

        @Test func `Notifications that an instance lost after its 200 come back once its silence is noticed`()
            async throws
        {
            try await Self.withApple(count: 150, droppingOneIn: 5) { apple in
                try await apple.waitUntil("Apple has sent all") { await apple.control.isFinished() }
                #expect(apple.receiver.dropped > 0)
                // Minutes without ingest: Apple considers everything delivered, so no failure check finds it.
                let minute = Date(milliseconds: Date().milliseconds / 60_000 * 60_000)
                let producer = try Producer(apple.services.kafka, logger: .silent)
                try await producer.send(
                    [-13, -3, -2, -1].map { number in
                        ProducerRecord(
                            Topics.heartbeats,
                            IngestHeartbeat(
                                instance: "test", minute: minute.addingTimeInterval(number * 60), accepted: 1,
                                rejected: [:]))
                    })
                await producer.close(deadline: .seconds(5))
                try await apple.waitUntil("the heartbeats are stored") {
                    try await apple.ledger.connection.execute(Self.heartbeats)[0].value("count", as: Int64.self) == 4
                }
                // The comparison began with the first notification, and this silence was before.
                try await apple.waitUntil("the comparison of all apps begins before the silence") {
                    let all = try await apple.ledger.connection.execute(Self.apps)[0].value("count", as: Int64.self)
                    return try await apple.ledger.connection.execute(
                        Self.beginBefore, minute.addingTimeInterval(-15 * 60)
                    ).affected == Int(all)
                }
                let windows = RecoveryWindowStore(apple.ledger.connection)
                var filter = RecoveryWindowStore.Filter()
                (filter.reasons, filter.onlyWhole) = ([.outage], true)
                // Each app has its own window, and one may be closed before the next is opened.
                try await Self.waitUntilNothingIsMissing(apple)
                try await apple.waitUntil("the windows of the silence have closed") {
                    let outages = try await windows.windows(filter)
                    return outages.contains { $0.counts.recovered > 0 } && outages.allSatisfy { $0.state == .closed }
                }
                #expect(try await windows.windows().allSatisfy { $0.reason != .manual })
                try await Self.expectNothingMissing(apple)
            }
        }

        @Test func `Storms, forgotten positions, a killed scheduler, a crashed database and a new key change nothing`()
            async throws
        {
            // In a directory that outlives the server; its user must be able to pass through.
            let parent = try TemporaryDirectory(permissions: 0o755)
            defer { parent.remove() }
            let directory = parent.path("postgres")
            let server = try await DevelopmentPostgres.start(directory: directory, durability: .none)
            try await Self.withApple(on: server.url, count: 300, droppingOneIn: 5) { apple in
                try await apple.waitUntil("Apple has sent all") { await apple.control.isFinished() }
                try await apple.fault(#"{"fault":"storm","count":4,"milliseconds":300}"#)
                try await apple.fault(#"{"fault":"expiredTokens","count":1}"#)
                try await apple.fault(#"{"fault":"error","count":3,"errorCode":5000001}"#)
                // So that it takes a while.
                try await apple.fault(#"{"fault":"slow","count":20,"milliseconds":250}"#)
                let opened = try await apple.storekeeper(["recover", "--from", "1h", "--no-wait"])
                #expect(opened.ending == .exit(0), "\(opened.log)")
                let windows = RecoveryWindowStore(apple.ledger.connection)
                var filter = RecoveryWindowStore.Filter()
                (filter.reasons, filter.onlyWhole) = ([.manual], true)
                try await apple.waitUntil("the scheduler is in the middle of it") {
                    try await windows.windows(filter).contains { $0.state == .open && $0.pages > 0 }
                }
                let again = try await Self.crash(server, in: directory)
                // Our own session is lost, too.
                _ = try? await apple.stored()
                try await apple.services.processes.kill("scheduler")
                try await apple.services.processes.restart("scheduler")
                try await apple.exchangeKeys()
                try await apple.waitUntil("the windows have closed") {
                    try await windows.windows(filter).allSatisfy { $0.state == .closed }
                }
                let closed = try await windows.windows(filter)
                #expect(closed.allSatisfy { $0.counts.stillMissing == 0 })
                #expect(closed.reduce(0) { $0 + $1.counts.recovered } > 0)
                // With the new key alone.
                let later = try await Self.recover(apple)
                #expect(later.allSatisfy { $0.state == "closed" && $0.listed > 0 && $0.missing == 0 })
                try await Self.expectNothingMissing(apple)
                try await Self.expectNoSecrets(apple)
                await again.stop()
            }
            await server.stop()
        }

        /// As `pg_ctl restart -m immediate`: all sessions end, and what was under way is recovered from the log.
        private static func crash(
            _ server: DevelopmentPostgres, in directory: String
        ) async throws -> DevelopmentPostgres {
            kill(try #require(await server.serverProcess()), SIGQUIT)
            await server.stop()
            return try await DevelopmentPostgres.start(directory: directory, port: server.port, durability: .none)
        }

        // MARK: What is expected

        /// As an operator would, of everything since the run began.
        private static func recover(_ apple: SimulatedApple) async throws -> [Window] {
            let outcome = try await apple.storekeeper(["recover", "--from", "1h", "--json"])
            #expect(outcome.ending == .exit(0), "\(outcome.log)")
            return try JSONDecoder().decode([Window].self, from: Data(outcome.text.utf8))
        }

        private static let heartbeats = Statement(
            unsafeSQL: "select count(*) as count from ingest_heartbeat where instance = 'test'")
        private static let apps = Statement(
            unsafeSQL: "select count(*) as count from (select distinct environment, bundle_id from notification) as app"
        )
        private static let beginBefore = Statement(
            unsafeSQL: """
                update coverage set begins_at = $1::timestamptz, planned_until = $1::timestamptz where kind = 'heartbeats'
                """)

        private static func waitUntilNothingIsMissing(_ apple: SimulatedApple) async throws {
            let sent = try Self.genuine(apple.record())
            try await apple.waitUntil("the ledger has all of it") { try await sent.isSubset(of: apple.ledger.uuids()) }
        }

        private static func genuine(_ record: RunRecord) -> Set<String> {
            Set(record.notifications.filter { $0.expectedRejection == nil }.map(\.uuid))
        }

        private static func expectNothingMissing(_ apple: SimulatedApple) async throws {
            let record = try apple.record()
            let stored = try await apple.ledger.uuids()
            #expect(Self.genuine(record).subtracting(stored).isEmpty, "missing")
            let check = RunCheck(
                ledger: try await apple.ledger.entries(), rejected: [],
                finalStates: try await apple.ledger.finalStates(), access: try await apple.ledger.access(),
                effectsTwice: try await apple.ledger.effectsTwice(except: []))
            var findings = check.against(record)
            findings.forgedMissing = []
            #expect(findings.areClean, "\(findings)")
            // What was asked meanwhile closes when its last notification has arrived.
            try await apple.waitUntil("nothing is missing") { try await apple.ledger.recovery().missing == 0 }
        }

        /// Not a key, not a token, not a payload: in no log, although all of them tell everything.
        private static func expectNoSecrets(_ apple: SimulatedApple) async throws {
            let plan = apple.services.processes.plan
            let logs = try FileManager.default.contentsOfDirectory(atPath: plan.logDirectory)
            #expect(logs.count >= ServiceKind.allCases.count)
            for log in logs {
                let text = try String(contentsOfFile: "\(plan.logDirectory)/\(log)", encoding: .utf8)
                for secret in ["PRIVATE KEY", "eyJ", "Bearer ", "x5c", "signedTransactionInfo", "appAccountToken"] {
                    let line = text.split(separator: "\n").first { $0.contains(secret) }
                    #expect(line == nil, "\(log)")
                }
            }
            let scheduler = try String(contentsOfFile: plan.log(of: "scheduler"), encoding: .utf8)
            #expect(scheduler.contains("debug"), "the logs were to tell everything")
        }

        private static func withApple(
            on databaseURL: String? = nil, count: Int, droppingOneIn oneIn: Int,
            _ body: @escaping @Sendable (SimulatedApple) async throws -> Void
        ) async throws {
            let settings: [ServiceKind: [String: String]] = [.scheduler: ["STOREKEEPER_WINDOW_LEASE": "4s"]]
            let environment = ["STOREKEEPER_LOG_LEVEL": "trace"]
            let use: @Sendable (DevelopmentEnvironment.RunningServices) async throws -> Void = { services in
                try await SimulatedApple.use(services, count: count, droppingOneIn: oneIn, body)
            }
            if let databaseURL {
                try await EndToEnd.withPipeline(on: databaseURL, settings: settings, environment: environment, use)
            } else {
                try await EndToEnd.withPipeline(settings: settings, environment: environment, use)
            }
        }
    }
}
