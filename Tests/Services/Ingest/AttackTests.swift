import Foundation
import TestSupport
import Testing

@testable import Ingest

/// Malicious clients, each beside a well-behaved one.
@Suite(.hangLimit) struct AttackTests {
    @Test func `Half-sent bodies hold no more than the budget, and other requests are answered 200`() async throws {
        let limits = Limits.patient {
            $0.body = 128 << 10
            $0.bodies = 1 << 20
        }
        try await RunningReceiver.with(limits: limits) { running in
            let head = "POST /v1/notifications HTTP/1.1\r\nHost: t\r\nContent-Length: 130000\r\n\r\n"
            let attackers = try (0..<40).map { _ in try running.client() }
            for attacker in attackers {
                await attacker.send(head + String(repeating: " ", count: 100_000))
            }
            // What is sent is received at some time; a genuine one is answered all the while.
            for _ in 0..<20 {
                #expect(try await running.client().post(RunningReceiver.notification)?.status == 200)
                #expect(running.budget.held <= limits.bodies)
            }
            // The oldest is dropped: whatever it sends now, the answer is 503 and the connection closes.
            var answers: [RawClient.Answer?] = []
            for attacker in attackers.prefix(5) {
                await attacker.send(String(repeating: " ", count: 30_000))
                answers.append(await attacker.answer())
            }
            let rejected = answers.contains { $0?.status == 503 }
            #expect(rejected)
            let isNamed = answers.contains { $0?.body.contains("too-many-bytes") == true }
            #expect(isNamed)
        }
    }

    @Test func `Answer to HEAD has no body, so the next answer is read as one`() async throws {
        try await RunningReceiver.with { running in
            let client = try running.client()
            await client.send("HEAD /v1/notifications HTTP/1.1\r\nHost: t\r\n\r\n")
            let answer = try #require(await client.answer())
            #expect(answer.status == 405)
            #expect(answer.headers["content-length"] ?? "0" == "0")
            #expect(await client.post(RunningReceiver.notification)?.status == 200)
        }
    }

    @Test func `Client that never reads its answers is disconnected`() async throws {
        try await RunningReceiver.with(limits: .patient { $0.reading = .milliseconds(500) }) { running in
            let client = try running.client()
            let requests = String(
                repeating: "GET /none HTTP/1.1\r\nHost: t\r\n\r\n", count: 2000)
            // Until the server reads no more, because nothing reads its answers; then it closes, and sending fails.
            var sent = 0
            while await client.send(requests) { sent += 1 }
            #expect(sent < 100_000)
        }
    }

    @Test func `One forwarded address cannot hold every place for requests`() async throws {
        let limits = Limits.patient {
            $0.inFlight = 16
            $0.addressShare = 0.25
        }
        try await RunningReceiver.with(limits: limits) { running in
            // Every answer is a rejection until the broker is back.
            try running.broker.takeDown()
            let body = Array(RunningReceiver.notification.utf8)
            let greedy = try (0..<9).map { _ in try running.client() }
            let genuine = try running.client()
            let answers = try await withThrowingTaskGroup(of: RawClient.Answer?.self) { group in
                for client in greedy {
                    group.addTask { await client.post(body, headers: ["X-Forwarded-For: 203.0.113.7"]) }
                }
                let first = try await group.next()
                group.addTask { await genuine.post(body, headers: ["X-Forwarded-For: 17.58.0.1"]) }
                try running.broker.bringUp()
                return try await group.reduce(into: [first ?? nil]) { $0.append($1) }
            }
            #expect(answers.map { $0?.status } == [503] + [Int](repeating: 200, count: 9))
            #expect(answers[0]?.body.contains("address-share") == true)
        }
    }

    @Test func `Client cannot choose the trace that is recorded`() async throws {
        let forced = "00-0af7651916cd43dd0000000000000001-b7ad6b7169203331-01"
        try await RunningReceiver.with { running in
            let answer = await (try running.client()).post(
                Array(RunningReceiver.notification.utf8), headers: ["traceparent: \(forced)"])
            #expect(answer?.status == 200)
            let header = try await running.records(1).first?.headers.first { $0.name == "traceparent" }
            let value = String(decoding: header?.value ?? [], as: UTF8.self)
            #expect(value.hasSuffix("-00"))
            #expect(!value.contains("0af7651916cd43dd"))
        }
    }
}
