import Contracts
import Foundation
import Storage
import TestSupport
import Testing

@testable import Storekeeper

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

        @Test func `after three days without ingest and a receiver that forgets, the ledger equals Apple's book`()
            async throws
        {
            try await Self.withApple(count: 500, droppingOneIn: 100) { apple in
                try await apple.waitUntil("the line is at work") { try await apple.stored() > 60 }
                _ = try await apple.stand.line.stop("ingest")
                let before = try apple.book().attempts.count
                // An hour of Apple's is a tenth of a second: three days are 7.2 seconds.
                let start = ContinuousClock.now
                try await apple.waitUntil("three days are over, and notifications were sent in them") {
                    try ContinuousClock.now - start > .seconds(8) && apple.book().attempts.count > before + 60
                }
                try await apple.stand.line.restart("ingest")
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

        @Test func `what Apple could not deliver comes by itself, without anybody asking for it`() async throws {
            try await Self.withApple(count: 250, droppingOneIn: 0) { apple in
                try await apple.waitUntil("the line is at work") { try await apple.stored() > 40 }
                _ = try await apple.stand.line.stop("ingest")
                let before = try apple.book().attempts.count
                try await apple.waitUntil("notifications were sent to nobody") {
                    try apple.book().attempts.count > before + 60
                }
                try await apple.stand.line.restart("ingest")
                try await apple.waitUntil("Apple has sent all") { await apple.control.isFinished() }
                let sent = Set(try apple.book().notifications.filter { $0.forgery == nil }.map(\.uuid))
                try await apple.waitUntil("the ledger has all of it") {
                    try await sent.isSubset(of: apple.ledger.uuids())
                }
                let windows = RecoveryWindowStore(apple.ledger.connection)
                try await apple.waitUntil("the windows that brought it have closed") {
                    try await windows.windows().contains { $0.state == .closed && $0.counts.recovered > 0 }
                }
                #expect(try await windows.windows().allSatisfy { $0.reason != .manual })
                try await Self.expectNothingMissing(apple)
            }
        }

        @Test func `storms, forgotten positions, a killed scheduler and lost databases change nothing`() async throws {
            try await Self.withApple(count: 300, droppingOneIn: 5) { apple in
                try await apple.waitUntil("Apple has sent all") { await apple.control.isFinished() }
                try await apple.fault(#"{"fault":"storm","count":4,"milliseconds":300}"#)
                try await apple.fault(#"{"fault":"expiredTokens","count":1}"#)
                try await apple.fault(#"{"fault":"error","count":3,"errorCode":5000001}"#)
                async let recovered = Self.recover(apple)
                let windows = RecoveryWindowStore(apple.ledger.connection)
                try await apple.waitUntil("the scheduler is fetching") {
                    try await windows.windows().contains { $0.reason == .manual && $0.attempts > 0 }
                }
                try await apple.stand.line.kill("scheduler")
                try await apple.loseDatabaseSessions(of: "storekeeper recovery")
                try await apple.stand.line.restart("scheduler")
                try await apple.loseDatabaseSessions(of: "storekeeper scheduler")
                let closed = try await recovered
                #expect(closed.allSatisfy { $0.state == "closed" && $0.stillMissing == 0 })
                #expect(closed.reduce(0) { $0 + $1.recovered } > 0)
                try await Self.expectNothingMissing(apple)
                try await Self.expectNoSecrets(apple)
            }
        }

        // MARK: What is expected

        /// As an operator would, of everything since the run began.
        private static func recover(_ apple: SimulatedApple) async throws -> [Window] {
            let outcome = try await apple.storekeeper(["recover", "--from", "1h", "--json"])
            #expect(outcome.ending == .exit(0), "\(outcome.log)")
            return try JSONDecoder().decode([Window].self, from: Data(outcome.text.utf8))
        }

        private static func expectNothingMissing(_ apple: SimulatedApple) async throws {
            let book = try apple.book()
            let genuine = Set(book.notifications.filter { $0.forgery == nil }.map(\.uuid))
            let stored = try await apple.ledger.uuids()
            #expect(genuine.subtracting(stored).isEmpty, "missing")
            let check = Check(
                ledger: try await apple.ledger.entries(), refused: [], beliefs: try await apple.ledger.beliefs(),
                effectsTwice: try await apple.ledger.effectsTwice(except: []))
            var findings = check.against(book)
            findings.forgedMissing = []
            #expect(findings.areClean, "\(findings)")
            // What was asked meanwhile closes when its last notification has arrived.
            try await apple.waitUntil("nothing is missing") { try await apple.ledger.recovery().missing == 0 }
        }

        /// Not a key, not a token, not a payload: in no log, although all of them tell everything.
        private static func expectNoSecrets(_ apple: SimulatedApple) async throws {
            let plan = apple.stand.line.plan
            let logs = try FileManager.default.contentsOfDirectory(atPath: plan.logDirectory)
            #expect(logs.count >= Role.allCases.count)
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
            count: Int, droppingOneIn oneIn: Int, _ body: @escaping @Sendable (SimulatedApple) async throws -> Void
        ) async throws {
            try await EndToEnd.withLine(
                settings: [.scheduler: ["STOREKEEPER_WINDOW_LEASE": "4s"]],
                environment: ["STOREKEEPER_LOG_LEVEL": "debug"]
            ) { stand in
                try await SimulatedApple.use(stand, count: count, droppingOneIn: oneIn, body)
            }
        }
    }
}
