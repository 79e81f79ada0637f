import Contracts
import Foundation
import Hummingbird
import StrictJSON
import TestSupport
import Testing

@testable import SimulatedAppStore

/// The built command, as a process of its own.
///
/// The time-out is long where answers are counted: a busy machine must not look like a silent receiver.
@Suite struct CommandTests {
    @Test func `Run ends on SIGTERM with exit code 0, a summary and every answer in the record`() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let (requests, outcome) = try await Receiver.listening { receiver, address in
            let run = try Command(
                "run", "--target", address + "/v1/notifications", "--authority", directory.path("authority"),
                "--record", directory.path("record.jsonl"), "--environment", "Production", "--timeout", "60", "--json")
            await receiver.wait(for: 100)
            run.terminate()
            let outcome = await run.outcome()
            return (receiver.requests, outcome)
        }
        #expect(outcome.status == 0, "\(outcome.errors)")
        let tally = try JSONDecoder().decode(Tally.self, from: Data(outcome.output.utf8))
        #expect(tally.deliveries == requests.count)
        let record = try read(directory)
        #expect(record.notifications.count == requests.count)
        #expect(record.notifications.allSatisfy { record.arrival(of: $0.uuid) == .certain })
    }

    @Test func `Run that kill -9 ended lost nothing that was sent, and continues the same record`() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let requests = try await Receiver.listening { receiver, address in
            let arguments = [
                "run", "--target", address + "/v1/notifications", "--authority", directory.path("authority"),
                "--record", directory.path("record.jsonl"), "--environment", "Production",
                "--timeout", "60",
            ]
            let killed = try Command(arguments)
            await receiver.wait(for: 100)
            killed.kill()
            _ = await killed.outcome()
            let continued = try Command(arguments + ["--count", "50"])
            #expect(await continued.outcome().status == 0)
            return receiver.requests
        }
        let record = try read(directory)
        let known = Set(record.notifications.map(\.uuid))
        #expect(known.count == record.notifications.count)
        #expect(try requests.allSatisfy { known.contains(try uuid(in: $0.body)) })
        // Only what was being sent when the process ended may lack its answer.
        #expect(record.notifications.count { record.arrival(of: $0.uuid) != .certain } <= 64)
    }

    @Test func `Run sends nothing while the backlog is full, and everything once there is room`() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let (before, after) = try await Receiver.listening(waiting: { number in number <= 5 ? 4_000 : 3_999 }) {
            receiver, address in
            let run = try Command(
                "run", "--target", address + "/v1/notifications", "--authority", directory.path("authority"),
                "--count", "20", "--timeout", "60", "--pace-url", address + "/backlog")
            #expect(await run.outcome().status == 0)
            return (receiver.requestsBeforeRoom, receiver.requests.count)
        }
        #expect(before == 0)
        #expect(after == 20)
    }

    @Test(arguments: SampleCase.allCases)
    func `Notification of every sample case can be sent`(sampleCase: SampleCase) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let file = directory.path("body.json")
        let made = try await Command(
            "make", "--case", sampleCase.rawValue, "--authority", directory.path("authority")
        ).outcome()
        #expect(made.status == 0, "\(made.errors)")
        try Data(made.output.utf8).write(to: URL(fileURLWithPath: file))
        let requests = try await Receiver.listening { receiver, address in
            let sent = try Command("send", file, "--target", address + "/v1/notifications", "--timeout", "60")
            let outcome = await sent.outcome()
            #expect(outcome.status == 0)
            #expect(outcome.output == "200\n")
            return receiver.requests
        }
        #expect(requests.map(\.body) == [Array(made.output.utf8.dropLast())])
    }

    @Test func `send wraps a bare signed payload, and exits 1 when it is rejected`() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let file = directory.path("jws")
        try Data("a.b.c\n".utf8).write(to: URL(fileURLWithPath: file))
        let requests = try await Receiver.listening(answering: { _, _ in .badRequest }) { receiver, address in
            let sent = try Command("send", file, "--target", address + "/v1/notifications", "--timeout", "60")
            let outcome = await sent.outcome()
            #expect(outcome.status == 1)
            #expect(outcome.output == "400\n")
            return receiver.requests
        }
        #expect(requests.map(\.body) == [Array(#"{"signedPayload":"a.b.c"}"#.utf8)])
    }

    @Test func `Order that the receiver does not accept is not promised Apple's retries in the sandbox`() {
        let message = ClientOptions.notAccepted("TIMED_OUT").description
        #expect(message.contains("(TIMED_OUT)"))
        #expect(message.contains("in the sandbox sends once unless `simulator run` has --retry-sandbox"))
    }

    @Test func `Run exits 1 when retries were exhausted`() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let outcome = try await Receiver.listening(answering: { _, _ in .serviceUnavailable }) { _, address in
            try await Command(
                "run", "--target", address + "/v1/notifications", "--authority", directory.path("authority"),
                "--count", "3"
            ).outcome()
        }
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("given up 3"))
    }

    @Test func `Invalid command line exits 64 and names every problem`() async throws {
        let outcome = try await Command(
            "run", "--target", "http://127.0.0.1:1", "--authority", "x", "--duplicates", "2", "--concurrency", "0"
        ).outcome()
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("--duplicates"))
        #expect(outcome.errors.contains("--concurrency"))
    }

    @Test(arguments: ["127.0.0.1:8080", "ftp://example.com", "http://", ""])
    func `Invalid URL exits 64`(address: String) async throws {
        let outcome = try await Command("run", "--target", address, "--authority", "x").outcome()
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("--target"))
    }

    @Test(arguments: [["--help"], ["help", "run"], ["help", "make"], ["help", "send"], []])
    func `Help is printed with exit code 0`(arguments: [String]) async throws {
        let outcome = try await Command(arguments).outcome()
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("USAGE: simulator"))
    }

    private func read(_ directory: TemporaryDirectory) throws -> RunRecord {
        try RunRecord(reading: Array(Data(contentsOf: URL(fileURLWithPath: directory.path("record.jsonl")))))
    }

    private func uuid(in body: [UInt8]) throws -> String {
        let payload = try #require(try JSONDocument(body).root["signedPayload"]?.string)
        return try #require(try NotificationSignerTests.claims(of: Array(payload.utf8))["notificationUUID"]?.string)
    }
}
