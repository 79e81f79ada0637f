import Chassis
import Contracts
import Foundation
import Kafka
import Records
import Synchronization
import TestSupport
import Testing

@testable import Chassis
@testable import Ingest

@Suite(.hangLimit) struct ReceiverTests {
    @Test
    func
        `Receiver answers 200 with an empty body once the notification is in Kafka, unchanged and without a key (A1, A2)`()
        async throws
    {
        try await RunningReceiver.with { running in
            let answer = try #require(await running.client().post(RunningReceiver.notification))
            #expect(answer.status == 200)
            #expect(answer.body == "")
            let record = try #require(try await running.records(1).first)
            #expect(record.value == Array(RunningReceiver.payload.utf8))
            #expect(record.key == nil)
            let received = try ReceivedNotification(
                WireRecord(
                    key: record.key, value: record.value, headers: record.headers.map { WireHeader($0.name, $0.value) })
            )
            #expect(received.source == .webhook)
            #expect(received.receivedAt == Date(timeIntervalSince1970: 1_700_000_000))
            #expect(received.traceparent == "00-00000000000000070000000000000007-0000000000000007-00")
            #expect(running.tally.take() == Tally.Counts(accepted: 1))
        }
    }

    @Test func `Receiver answers 200 to the same notification again (A4)`() async throws {
        try await RunningReceiver.with { running in
            let client = try running.client()
            for _ in 0..<3 { #expect(await client.post(RunningReceiver.notification)?.status == 200) }
            let records = try await running.records(3)
            #expect(records.count == 3)
        }
    }

    @Test func `Receiver begins the notification's trace with the request`() async throws {
        let tracer = Tracer(isOn: true, random: { 7 })
        try await RunningReceiver.with(tracer: tracer) { running in
            #expect(try await running.client().post(RunningReceiver.notification)?.status == 200)
            let span = try #require(tracer.take(10).spans.first)
            #expect(span.context.traceparent == "00-00000000000000070000000000000007-0000000000000007-01")
            #expect(span.parent == nil)
            #expect(span.attributes.contains { $0 == ("http.response.status_code", .number(200)) })
            let header = try await running.records(1).first?.headers.first { $0.name == Headers.traceparent }
            #expect(header?.value == Array(span.context.traceparent.utf8))
        }
    }

    @Test func `Receiver answers 400 with the reason to what can never be a notification, and keeps the connection`()
        async throws
    {
        let bodies = [
            ("", "empty-body"), ("not json", "not-json"), ("[]", "not-an-object"), ("{}", "no-signed-payload"),
            ("{\"signedPayload\":7}", "signed-payload-not-a-string"),
            ("{\"signedPayload\":\"abc!.abcd.abcd\"}", "not-three-segments"),
            ("{\"signedPayload\":\"abcd.abcd\"}", "not-three-segments"),
        ]
        try await RunningReceiver.with { running in
            let client = try running.client()
            for (body, reason) in bodies {
                let answer = try #require(await client.post(body))
                #expect(answer.status == 400)
                #expect(answer.body.contains("\"error\":\"\(reason)\""))
                #expect(answer.headers["content-type"] == "application/json")
            }
            #expect(await client.post(RunningReceiver.notification)?.status == 200)
            #expect(running.tally.take().rejected == [400: Int64(bodies.count)])
        }
    }

    @Test func `Receiver answers 405 with the allowed method, 404 to other paths, 415 to other types`() async throws {
        try await RunningReceiver.with { running in
            let client = try running.client()
            for method in ["GET", "PUT", "DELETE", "PATCH"] {
                let answer = try #require(await client.post("", method: method))
                #expect(answer.status == 405)
                #expect(answer.headers["allow"] == "POST")
            }
            for path in ["/", "/v1", "/v1/notifications/", "/v2/notifications", "/V1/notifications"] {
                #expect(await client.post(RunningReceiver.notification, to: path)?.status == 404)
            }
            for type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""] {
                let answer = await client.post(
                    Array(RunningReceiver.notification.utf8), headers: ["Content-Type: \(type)"])
                #expect(answer?.status == 415)
            }
        }
    }

    @Test func `Receiver accepts a missing content type, another case and a query`() async throws {
        try await RunningReceiver.with { running in
            let client = try running.client()
            let body = Array(RunningReceiver.notification.utf8)
            #expect(await client.post(body, headers: [])?.status == 200)
            #expect(await client.post(body, headers: ["content-type: Application/JSON"])?.status == 200)
            #expect(await client.post(body, to: "/v1/notifications?from=apple")?.status == 200)
        }
    }

    @Test func `Receiver answers 413 to 5 MB, whether announced or not`() async throws {
        try await RunningReceiver.with { running in
            let body = [UInt8](repeating: UInt8(ascii: "a"), count: 5_000_000)
            let announced = try #require(await running.client().post(body))
            #expect(announced.status == 413)
            let client = try running.client()
            await client.send(
                "POST /v1/notifications HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n4c4b40\r\n")
            await client.send(body)
            await client.send("\r\n0\r\n\r\n")
            let chunked = try #require(await client.answer())
            #expect(chunked.status == 413)
            #expect(chunked.body.contains("131072"))
            #expect(await client.post(RunningReceiver.notification)?.status == 200)
        }
    }

    @Test func `Receiver answers 413 to an endless body and closes the connection`() async throws {
        try await RunningReceiver.with(limits: Limits(body: 1024)) { running in
            let client = try running.client()
            await client.send(
                "POST /v1/notifications HTTP/1.1\r\nHost: test\r\nContent-Length: 99999999999\r\n\r\n")
            let piece = [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 20)
            var pieces = 0
            while await client.send(piece) { pieces += 1 }
            #expect(pieces < 90_000)
            #expect(running.tally.take().rejected == [413: 1])
        }
    }

    @Test func `Receiver accepts a body of exactly the limit, and no byte more`() async throws {
        let body = Array(RunningReceiver.notification.utf8)
        try await RunningReceiver.with(limits: .patient { $0.body = body.count }) { running in
            let client = try running.client()
            #expect(await client.post(body)?.status == 200)
            #expect(await client.post(body + [UInt8(ascii: " ")])?.status == 413)
        }
    }

    @Test func `Receiver rejects a body that is announced as too large before it is sent`() async throws {
        try await RunningReceiver.with { running in
            let client = try running.client()
            await client.send(
                "POST /v1/notifications HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: 5000000\r\n\r\n"
            )
            #expect(await client.answer()?.status == 413)
            await client.waitForTheEnd()
        }
    }

    @Test func `Receiver answers 408 to a slow client and closes the connection`() async throws {
        let time = Mutex(ContinuousClock.now)
        let clock = ProcessClock(
            now: { Date(timeIntervalSince1970: 0) },
            // Each reading of the clock is eleven seconds after the one before.
            instant: {
                time.withLock {
                    $0 += .seconds(11)
                    return $0
                }
            })
        try await RunningReceiver.with(limits: Limits(), clock: clock) { running in
            let client = try running.client()
            await client.send("POST /v1/notifications HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\n{")
            #expect(await client.answer()?.status == 408)
            await client.waitForTheEnd()
            #expect(running.tally.take().rejected == [408: 1])
        }
    }

    @Test(arguments: [
        "", "POST /v1/noti", "POST /v1/notifications HTTP/1.1\r\nHost: test\r\n",
        "POST /v1/notifications HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\n{\"signed",
    ])
    func `Receiver disconnects a silent client and serves others meanwhile`(beginning: String) async throws {
        try await RunningReceiver.with(limits: .patient { $0.reading = .milliseconds(300) }) { running in
            let silent = try running.client()
            await silent.send(beginning)
            // The limit counts for all clients: on a busy machine a good client may be disconnected, too, and tries again.
            var status: Int?
            repeat {
                status = try await running.client().post(RunningReceiver.notification)?.status
            } while status != 200
            await silent.waitForTheEnd()
        }
    }

    @Test func `Receiver survives a client that disconnects in the middle`() async throws {
        try await RunningReceiver.with { running in
            do {
                let rude = try running.client()
                await rude.send("POST /v1/notifications HTTP/1.1\r\nContent-Length: 100\r\n\r\n{")
            }
            let answer = try await running.client().post(RunningReceiver.notification)
            #expect(answer?.status == 200)
        }
    }

    @Test func `Receiver answers at most 400 to what is not HTTP`() async throws {
        try await RunningReceiver.with { running in
            let client = try running.client()
            await client.send("\u{16}\u{3}\u{1} this is not HTTP\r\n\r\n")
            if let answer = await client.answer() { #expect(answer.status == 400) }
            let answer = try await running.client().post(RunningReceiver.notification)
            #expect(answer?.status == 200)
        }
    }

    @Test func `Receiver answers pipelined requests in order`() async throws {
        try await RunningReceiver.with { running in
            let client = try running.client()
            let body = RunningReceiver.notification
            let good = "POST /v1/notifications HTTP/1.1\r\nHost: t\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            await client.send(good + "GET / HTTP/1.1\r\nHost: t\r\n\r\n" + good)
            var statuses: [Int?] = []
            for _ in 0..<3 { statuses.append(await client.answer()?.status) }
            #expect(statuses == [200, 404, 200])
        }
    }

    @Test func `Receiver answers 503 with Retry-After while the broker is unavailable, and 200 afterwards`()
        async throws
    {
        try await RunningReceiver.with(limits: .patient { $0.acknowledgement = .milliseconds(200) }) { running in
            let client = try running.client()
            try running.broker.takeDown()
            let answer = try #require(await client.post(RunningReceiver.notification))
            #expect(answer.status == 503)
            #expect(answer.headers["retry-after"] == "60")
            #expect(answer.body.contains("kafka-unavailable"))
            try running.broker.bringUp()
            var status: Int?
            repeat { status = await client.post(RunningReceiver.notification)?.status } while status == 503
            #expect(status == 200)
        }
    }

    @Test func `Receiver answers 503, never 200, to a record that the broker rejects`() async throws {
        try await RunningReceiver.with(limits: .patient { $0.acknowledgement = .seconds(2) }) { running in
            // TOPIC_AUTHORIZATION_FAILED, which librdkafka does not retry.
            running.broker.inject([29], into: .produce)
            let answer = try await running.client().post(RunningReceiver.notification)
            #expect(answer?.status == 503)
        }
    }

    @Test func `Receiver answers 503 at once to more requests than may wait for Kafka`() async throws {
        let limits = Limits.patient { $0.inFlight = 1 }
        try await RunningReceiver.with(limits: limits) { running in
            // The first to come waits for the broker, so only the other one can be answered before it is back.
            try running.broker.takeDown()
            let clients = [try running.client(), try running.client()]
            let statuses = try await withThrowingTaskGroup(of: Int?.self) { group in
                for client in clients { group.addTask { await client.post(RunningReceiver.notification)?.status } }
                let early = try await group.next()
                try running.broker.bringUp()
                return [early, try await group.next()]
            }
            #expect(statuses == [503, 200])
            #expect(running.tally.take().reasons == ["too-many-in-flight": 1])
        }
    }

    @Test func `Receiver finishes the current request at shutdown and accepts no new one`() async throws {
        try await RunningReceiver.with { running in
            let client = try running.client()
            let body = RunningReceiver.notification
            let head = "POST /v1/notifications HTTP/1.1\r\nHost: t\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
            // Both in one piece: the answer to the first shows that the server has read the beginning of the second.
            await client.send(head + body + head + "{\"signed")
            #expect(await client.answer()?.status == 200)
            await running.group.triggerGracefulShutdown()
            await client.send(String(body.dropFirst("{\"signed".count)))
            #expect(await client.answer()?.status == 200)
            await client.waitForTheEnd()
            #expect(throws: RawClient.NoConnection.self) { try running.client() }
        }
    }
}
