import AsyncHTTPClient
import Contracts
import Digests
import Foundation
import Hummingbird
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import SimulatedAppStore

/// Whole runs against a real server.
@Suite struct SimulateTests {
    @Test func `Run posts every notification as Apple does and records the answer`() async throws {
        let (requests, record, tally) = try await run { $0.count = 200 }
        #expect(requests.count == 200)
        #expect(requests.allSatisfy { $0.contentType?.hasPrefix("application/json") == true })
        let received = try requests.map { try uuid(in: $0.body) }
        #expect(Set(received) == Set(record.notifications.map(\.uuid)))
        #expect(Set(received).count == 200)
        #expect(record.notifications.allSatisfy { record.arrival(of: $0.uuid) == .certain })
        #expect(tally.accepted == 200)
        #expect(tally.givenUp == 0)
        #expect(tally.answers == ["200": 200])
        #expect(tally.p50 > 0 && tally.p50 <= tally.p95)
    }

    @Test func `Record has the digest of every payload as it was posted`() async throws {
        let (requests, record, _) = try await run {
            $0.count = 50
            $0.invalidShare = 0.2
        }
        var posted: [String: String] = [:]
        for request in requests {
            let payload = try #require(try JSONDocument(request.body).root["signedPayload"]?.string)
            posted[try uuid(in: request.body)] = Data(SHA256Hash.digest(payload.utf8)).base64EncodedString()
        }
        #expect(record.notifications.count == 50)
        for notification in record.notifications {
            let digest = try #require(notification.payloadDigest)
            let standard = digest.replacing("-", with: "+").replacing("_", with: "/") + "="
            #expect(posted[notification.uuid] == standard)
        }
    }

    @Test func `Notification rejected in Production is retried with the same bytes until it is accepted`()
        async throws
    {
        let (requests, record, tally) = try await run(
            answering: { number, _ in number <= 40 ? .serviceUnavailable : .ok },
            plan: {
                $0.count = 60
                $0.retries.scale = 3_600_000
            })
        #expect(requests.count == 100)
        #expect(tally.retries == 40)
        #expect(tally.accepted == 60)
        #expect(tally.answers == ["200": 60, "503": 40])
        let bodies = try Dictionary(grouping: requests.map(\.body)) { try uuid(in: $0) }
        #expect(bodies.count == 60)
        #expect(bodies.values.allSatisfy { Set($0).count == 1 })
        for (uuid, bodies) in bodies {
            let attempts = try #require(record.attempts[uuid])
            #expect(attempts.map(\.attempt) == Array(1...bodies.count))
            #expect(attempts.last?.status == 200)
        }
    }

    @Test func `Run gives up after the sixth attempt`() async throws {
        let (requests, record, tally) = try await run(
            answering: { _, _ in .internalServerError },
            plan: {
                $0.count = 5
                $0.retries.scale = 36_000_000
            })
        #expect(requests.count == 30)
        #expect(tally.givenUp == 5)
        #expect(tally.accepted == 0)
        #expect(record.attempts.values.allSatisfy { $0.map(\.attempt) == [1, 2, 3, 4, 5, 6] })
        #expect(record.notifications.allSatisfy { record.arrival(of: $0.uuid) == .possible })
    }

    @Test func `Run tries the sandbox once`() async throws {
        let (requests, _, tally) = try await run(
            environment: .sandbox, answering: { _, _ in .serviceUnavailable }, plan: { $0.count = 20 })
        #expect(requests.count == 20)
        #expect(tally.givenUp == 20)
    }

    @Test func `Duplicates are the same bytes again and marked in the record`() async throws {
        let (requests, record, tally) = try await run {
            $0.count = 50
            $0.repeatedShare = 1
        }
        #expect(requests.count == 100)
        #expect(tally.repetitions == 50)
        #expect(tally.accepted == 50)
        #expect(Set(requests.map(\.body)).count == 50)
        #expect(record.attempts.values.allSatisfy { $0.map(\.isRepetition) == [false, true] })
    }

    @Test func `Forgeries are in the record with the reason to reject them`() async throws {
        let (_, record, tally) = try await run {
            $0.count = 100
            $0.invalidShare = 0.5
        }
        let forged = record.notifications.compactMap(\.expectedRejection)
        #expect(forged.count == tally.forgeries)
        #expect(Set(forged) == Set(InvalidVariant.allCases.map(\.reason.rawValue)))
    }

    @Test func `Presigned run signs everything before it sends the first notification`() async throws {
        let isSending = Atomic(false)
        let present: @Sendable () -> Date = {
            let now = NotificationSignerTests.now
            return isSending.load(ordering: .relaxed) ? now.addingTimeInterval(30 * 86_400) : now
        }
        let plan = plan {
            $0.count = 400
            $0.invalidShare = 0.1
            $0.repeatedShare = 0.1
            $0.isPresigned = true
        }
        let (requests, record, tally) = try await Receiver.listening(answering: { _, _ in
            isSending.store(true, ordering: .relaxed)
            return .ok
        }) { receiver, address in
            let (record, tally) = try await send(to: address + "/v1/notifications", plan: plan, present: present)
            return (receiver.requests, record, tally)
        }
        #expect(tally.accepted == 400)
        #expect(Set(try requests.map { try uuid(in: $0.body) }) == Set(record.notifications.map(\.uuid)))
        #expect(record.notifications.count == 400)
        #expect(record.notifications.allSatisfy { $0.signedDate <= NotificationSignerTests.now.milliseconds })
    }

    @Test func `Run without an end cannot be presigned`() {
        let arguments = ["--target", "http://127.0.0.1:1/", "--authority", "a", "--presigned"]
        #expect(throws: (any Error).self) { try RunCommand.parse(arguments) }
        #expect(throws: Never.self) { try RunCommand.parse(arguments + ["--count", "1"]) }
        #expect(throws: Never.self) { try RunCommand.parse(arguments + ["--scenario", "win-back"]) }
    }

    @Test func `Refused connection is recorded like an answer`() async throws {
        let (record, tally) = try await send(
            to: "http://127.0.0.1:1/v1/notifications",
            plan: plan {
                $0.count = 3
                $0.retries.scale = 36_000_000
            })
        #expect(tally.answers == ["no connection": 18])
        #expect(record.attempts.values.allSatisfy { $0.allSatisfy { $0.failure == "no connection" } })
    }

    @Test func `Stopped run waits for outstanding answers and sends nothing new`() async throws {
        let stop = StopSwitch()
        let (requests, record, tally) = try await run(
            answering: { number, _ in
                if number == 100 { stop.turnOn() }
                return .ok
            }, stop: stop, plan: { $0.count = 0 })
        #expect(requests.count >= 100)
        #expect(tally.notifications == requests.count)
        #expect(tally.accepted == requests.count)
        #expect(record.notifications.allSatisfy { record.arrival(of: $0.uuid) == .certain })
    }

    private func plan(in environment: StoreEnvironment = .production, _ adjust: (inout Plan) -> Void) -> Plan {
        var plan = Plan(apps: [App(bundleId: "com.example.app", appAppleId: 1, environment: environment)])
        adjust(&plan)
        return plan
    }

    private func run(
        environment: StoreEnvironment = .production,
        answering answer: @escaping @Sendable (Int, Receiver.Request) -> HTTPResponse.Status = { _, _ in .ok },
        stop: StopSwitch = StopSwitch(), plan adjust: (inout Plan) -> Void
    ) async throws -> ([Receiver.Request], RunRecord, Tally) {
        let plan = plan(in: environment, adjust)
        return try await Receiver.listening(answering: answer) { receiver, address in
            let (record, tally) = try await send(to: address + "/v1/notifications", plan: plan, stop: stop)
            return (receiver.requests, record, tally)
        }
    }

    private func send(
        to url: String, plan: Plan, stop: StopSwitch = StopSwitch(),
        present: @escaping @Sendable () -> Date = { NotificationSignerTests.now }
    ) async throws -> (RunRecord, Tally) {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path("record.jsonl")
        let record = try RunRecordWriter(path: path)
        let client = Target.client(concurrency: plan.concurrency)
        let simulate = Simulate(
            plan: plan, signer: try NotificationSignerTests.signer(),
            target: Target(client: client, url: url, timeout: .seconds(30)), record: record, backlog: nil, stop: stop,
            present: present, now: { NotificationSignerTests.now })
        let result: Result<Tally, any Error>
        do { result = .success(try await simulate.run()) } catch { result = .failure(error) }
        try await client.shutdown()
        try record.close()
        return (try RunRecord(reading: Array(Data(contentsOf: URL(fileURLWithPath: path)))), try result.get())
    }

    private func uuid(in body: [UInt8]) throws -> String {
        let payload = try #require(try JSONDocument(body).root["signedPayload"]?.string)
        return try #require(try NotificationSignerTests.claims(of: Array(payload.utf8))["notificationUUID"]?.string)
    }
}
