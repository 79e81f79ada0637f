import AppStore
import AsyncHTTPClient
import Contracts
import Foundation
import Hummingbird
import Signatures
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import SimulatedAppStore

/// The built command with its API, as a process of its own.
@Suite struct ServedRunTests {
    @Test func `Run keeps what was never accepted in the history as it was sent, and lasts until it is stopped`()
        async throws
    {
        let isDown = Mutex(true)
        try await Self.run(
            answering: { _, _ in isDown.withLock { $0 } ? .serviceUnavailable : .ok }, "--environment", "Sandbox",
            "--count", "60"
        ) { run in
            try await run.waitUntil { $0["isFinished"]?.bool == true && $0["failing"]?.int64 == 60 }
            let now = Date()
            let body = #"""
                {"startDate":\#(now.adding(-3600).milliseconds),"endDate":\#(now.adding(3600).milliseconds),
                "onlyFailures":true}
                """#
            var payloads: [String] = []
            var token: String?
            repeat {
                let path = "/sandbox/inApps/v1/notifications/history" + (token.map { "?paginationToken=\($0)" } ?? "")
                let page = try await run.ask("POST", path, body)
                let items = try #require(page["notificationHistory"]).elements
                payloads += items.compactMap { $0["signedPayload"]?.string }
                token = page["paginationToken"]?.string
            } while token != nil
            let posted = try run.receiver.requests.map {
                try #require(try JSONDocument($0.body).root["signedPayload"]?.string)
            }
            #expect(payloads.count == 60)
            #expect(Set(payloads) == Set(posted))
            isDown.withLock { $0 = false }
        } afterwards: { outcome in
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.output.contains("given up 60"))
        }
    }

    @Test func `Run names the port that the system chose, and no address that is in use`() async throws {
        let port = Mutex("")
        try await Self.run("--environment", "Sandbox", "--count", "5") { run in
            try await run.waitUntil { $0["isFinished"]?.bool == true }
            port.withLock { $0 = String(run.address.split(separator: ":").last ?? "") }
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            let second = try await Command(
                "run", "--target", "http://127.0.0.1:1/", "--authority", directory.path("authority"),
                "--api-address", "127.0.0.1:\(port.withLock { $0 })"
            ).outcome()
            #expect(second.status != 0)
            #expect(!second.errors.contains("Server API answers on"), "\(second.errors)")
        } afterwards: { outcome in
            let address = "http://127.0.0.1:\(port.withLock { $0 }) "
            #expect(outcome.errors.contains("The App Store Server API answers on \(address)"), "\(outcome.errors)")
        }
    }

    @Test func `Test notification is sent on request and its status returned`() async throws {
        try await Self.run("--environment", "Production", "--count", "5") { run in
            try await run.waitUntil { $0["isFinished"]?.bool == true }
            let ordered = try await run.ask("POST", "/inApps/v1/notifications/test")
            let token = try #require(ordered["testNotificationToken"]?.string)
            await run.receiver.wait(for: 6)
            try await run.waitUntil { $0["accepted"]?.int64 == 6 }
            let status = try await run.ask("GET", "/inApps/v1/notifications/test/\(token)")
            let sent = try #require(run.receiver.requests.last)
            #expect(status["signedPayload"]?.string == (try JSONDocument(sent.body).root["signedPayload"]?.string))
            #expect(status["sendAttempts"]?.elements.first?["sendAttemptResult"]?.string == "SUCCESS")
        } afterwards: { outcome in
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
    }

    @Test func `Apple's retries deliver what an outage prevented, and it stops being a failure`() async throws {
        let isDown = Mutex(true)
        try await Self.run(
            answering: { _, _ in isDown.withLock { $0 } ? .serviceUnavailable : .ok }, "--environment", "Production",
            "--count", "40", "--retry-scale", "7200"
        ) { run in
            try await run.waitUntil { ($0["failing"]?.int64 ?? 0) == 40 }
            isDown.withLock { $0 = false }
            try await run.waitUntil { $0["accepted"]?.int64 == 40 && $0["failing"]?.int64 == 0 }
            try await run.waitUntil { $0["isFinished"]?.bool == true }
            let customers = try await run.ask("GET", "/simulator/customers?limit=5")
            let id = try #require(customers["customers"]?.elements.first?["originalTransactionId"]?.string)
            #expect(try await run.ask("GET", "/inApps/v1/subscriptions/\(id)")["bundleId"]?.string != nil)
        } afterwards: { outcome in
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.output.contains("accepted 40, given up 0"))
        }
    }

    @Test func `Extension is sent, and the record and the status agree about it`() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try await Self.run(
            "--environment", "Production", "--count", "50", "--record", directory.path("record.jsonl")
        ) { run in
            try await run.waitUntil { $0["isFinished"]?.bool == true }
            let customers = try await run.ask("GET", "/simulator/customers?limit=1000")["customers"]?.elements ?? []
            let id = try #require(customers.first { $0["status"]?.int64 == 1 }?["originalTransactionId"]?.string)
            let answer = try await run.ask(
                "PUT", "/inApps/v1/subscriptions/extend/\(id)",
                #"{"extendByDays":10,"extendReasonCode":1,"requestIdentifier":"r"}"#)
            let end = try #require(answer["effectiveDate"]?.int64)
            try await run.waitUntil { $0["accepted"]?.int64 == 51 }
            let bytes = try Data(contentsOf: URL(fileURLWithPath: directory.path("record.jsonl")))
            let record = try RunRecord(reading: Array(bytes))
            let key = RunRecord.Purchase(environment: .production, originalTransactionId: id)
            let newest = record.notifications.last { $0.originalTransactionId == id }
            #expect(newest?.notificationType == "RENEWAL_EXTENDED")
            #expect(record.expectedFacts { _ in true }[key]?.expiresDate == end)
        } afterwards: { outcome in
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
    }

    @Test func `Export is compressed, as old as it says, and differs as often as its file of counts says`() async throws
    {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try await Self.run("--environment", "Production", "--count", "40") { run in
            try await run.waitUntil { $0["isFinished"]?.bool == true }
            let before = run.receiver.requests.count
            let file = directory.path("it's.csv.gz")
            let outcome = try await Command(
                "export", file, "--differences", "1", "--simulator", run.address, "--json"
            ).outcome()
            #expect(outcome.status == 0, "\(outcome.errors)")
            let counts = try JSONDocument(Array(try Data(contentsOf: URL(fileURLWithPath: file + ".json")))).root
            #expect(Array(counts.rawBytes) == Array(outcome.output.utf8.dropLast()))
            #expect(counts["differences"]?.members.map(\.key) == DifferenceCause.allCases.map(\.rawValue))
            #expect(counts["differences"]?.members.allSatisfy { $0.value.int64 == 1 } == true)
            // The events of the customers who differ were sent: eleven purchases, and nine more events after them.
            #expect(run.receiver.requests.count == before + 11 + 9)
            let date = try FileManager.default.attributesOfItem(atPath: file)[.modificationDate] as? Date
            #expect(date?.milliseconds == counts["takenAt"]?.int64)
            let unpacked = Process()
            unpacked.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            unpacked.arguments = ["gunzip", "--keep", file]
            try unpacked.run()
            unpacked.waitUntilExit()
            let text = try String(contentsOfFile: directory.path("it's.csv"), encoding: .utf8)
            #expect(text.split(separator: "\n").count == Int(counts["records"]?.int64 ?? 0) + 1)
            #expect(text.hasPrefix("rc_original_app_user_id,"))
            let wrong = try await Command("export", file, "--shape", "other").outcome()
            #expect(wrong.status == 64 && wrong.errors.contains("--shape must be revenuecat or adapty"))
        } afterwards: { outcome in
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
    }

    @Test func `Port in use ends the run with a message`() async throws {
        try await Receiver.listening { _, address in
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            let outcome = try await Command(
                "run", "--target", address + "/v1/notifications", "--authority", directory.path("authority"),
                "--api-address", String(address.dropFirst("http://".count))
            ).outcome()
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("is the port taken?"))
        }
    }

    @Test(arguments: [
        ["--api-address", "8080"], ["--api-address", ":1"], ["--api-address", "a:99999"], ["--api-limit-scale", "0"],
        ["--api-fault", #"{"fault":"rain"}"#], ["--api-remember", "0"], ["--api-token-life", "0"],
    ])
    func `Invalid option exits 64 and is named`(option: [String]) async throws {
        let outcome = try await Command(
            ["run", "--target", "http://127.0.0.1:1/x", "--authority", "x"] + option
        ).outcome()
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains(option[0]))
    }

    // MARK: The run

    struct Run: Sendable {
        var receiver: Receiver
        var address: String
        var token: FixtureToken

        /// - Parameter path: from the host on.
        func ask(_ method: String, _ path: String, _ body: String? = nil) async throws -> JSONValue {
            var request = HTTPClientRequest(url: address + path)
            request.method = .init(rawValue: method)
            request.headers.add(name: "authorization", value: "Bearer \(try token.text(now: Date()))")
            if let body { request.body = .bytes(Array(body.utf8)) }
            let response = try await HTTPClient.shared.execute(request, timeout: .minutes(10))
            let content = try await response.body.collect(upTo: 16 << 20)
            return try JSONDocument(Array(content.readableBytesView)).root
        }

        /// Polls the progress until it is as far as wanted.
        func waitUntil(_ isReached: (JSONValue) throws -> Bool) async throws {
            let deadline = ContinuousClock.now + .hangLimit
            while try !isReached(await ask("GET", "/simulator/progress")) {
                try #require(ContinuousClock.now < deadline, "the sending never got there")
            }
        }
    }

    private static func run(
        answering answer: @escaping @Sendable (Int, Receiver.Request) -> HTTPResponse.Status = { _, _ in .ok },
        _ arguments: String..., body: @Sendable (Run) async throws -> Void,
        afterwards: @Sendable (Command.Outcome) -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try await Receiver.listening(answering: answer) { receiver, address in
            let command = try Command(
                [
                    "run", "--target", address + "/v1/notifications", "--authority", directory.path("authority"),
                    "--api-address", "127.0.0.1:0", "--api-port-file", directory.path("port"), "--timeout", "60",
                    "--api-limit-scale", "1000",
                ] + arguments)
            do {
                // The API answers before the first notification is sent.
                await receiver.wait(for: 1)
                let port = try String(contentsOfFile: directory.path("port"), encoding: .utf8).dropLast()
                let token = try Self.token(in: directory)
                try await body(Run(receiver: receiver, address: "http://127.0.0.1:\(port)", token: token))
            } catch {
                command.kill()
                throw error
            }
            command.terminate()
            afterwards(await command.outcome())
        }
    }

    /// Finds the key as a client does.
    private static func token(in directory: TemporaryDirectory) throws -> FixtureToken {
        let list = directory.url.appendingPathComponent("authority/api-keys.json")
        let entry = try #require(try JSONDocument(Array(try Data(contentsOf: list))).root.elements.first)
        let file = try #require(entry["privateKeyFile"]?.string)
        let pem = try String(contentsOf: URL(fileURLWithPath: file, relativeTo: list), encoding: .utf8)
        var token = try FixtureToken()
        token.issuerId = try #require(entry["issuerId"]?.string)
        token.keyId = try #require(entry["keyId"]?.string)
        token.key = try P256PrivateKey(pem: pem)
        return token
    }
}
