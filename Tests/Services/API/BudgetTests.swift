import Foundation
import Storage
import Synchronization
import TestSupport
import Testing

@testable import API

/// No caller stops another.
@Suite(.hangLimit) struct BudgetTests {
    private let path = "/v1/accounts/7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b/entitlements"

    @Test func `API refuses an event stream beyond those of a key, and serves another key`() async throws {
        try await RunningAPI.with(limits: KeyLimits(streams: 1)) { api in
            let (key, other) = (try await api.key(), try await api.key())
            let stream = try RawClient(port: api.port)
            await stream.send("GET /v1/events/stream HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer \(key)\r\n\r\n")
            #expect(await stream.answer()?.status == 200)
            let refused = try await api.get("/v1/events/stream", key: key)
            #expect(refused.status == 429 && refused.problem == "too-many-requests")
            #expect(
                refused.headers["retry-after"] != nil
                    && refused.json?["detail"]?.string?.contains("1 event streams") == true)
            #expect(try await api.get(path, key: key).status == 200)
            let further = try RawClient(port: api.port)
            await further.send("GET /v1/events/stream HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer \(other)\r\n\r\n")
            #expect(await further.answer()?.status == 200)
        }
    }

    @Test func `API lets a request of another key wait while one key has all of its waits`() async throws {
        try await RunningAPI.with(limits: KeyLimits(waits: 1)) { api in
            let (key, other) = (try await api.key(), try await api.key())
            let tag = try #require(try await api.get(path, key: key).headers["etag"])
            let headers = ["If-None-Match": tag, "Prefer": "wait=3"]
            let path = path
            let isNested = Mutex(false)
            // While the first request waits, the same key is not allowed to wait again, and another key is.
            await api.looks.before {
                api.clock.advance(by: 1)
                let isFirst = isNested.withLock { nested in
                    defer { nested = true }
                    return !nested
                }
                guard isFirst else { return }
                let second = try await api.get(path, key: key, headers: headers)
                #expect(second.status == 304 && second.headers["preference-applied"] == nil)
                let beside = try await api.get(path, key: other, headers: headers)
                #expect(beside.status == 304 && beside.headers["preference-applied"] == "wait=3")
            }
            let first = try await api.get(path, key: key, headers: headers)
            #expect(first.status == 304 && first.headers["preference-applied"] == "wait=3")
        }
    }

    @Test func `API refuses bodies beyond the bytes of a key, and gives them back with the answer`() async throws {
        try await RunningAPI.with(limits: KeyLimits(bodies: 64 << 10)) { api in
            let (key, other) = (try await api.key(), try await api.key())
            let head =
                "POST /v1/transactions HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 40000\r\n"
            let half = try RawClient(port: api.port)
            await half.send(head + "Authorization: Bearer \(key)\r\n\r\n")
            await half.send([UInt8](repeating: 0x20, count: 39_999))
            let held = ContinuousClock.now + .hangLimit
            let id = try #require(try await api.id(of: key))
            while api.budgets.held(id, .bodyBytes) < 39_999, ContinuousClock.now < held { await Task.yield() }
            let body = [UInt8](repeating: 0x20, count: 30_000)
            let refused = try await api.send("POST", "/v1/transactions", key: key, body: body)
            #expect(refused.status == 429 && refused.problem == "too-many-requests")
            #expect(refused.headers["retry-after"] == "1")
            #expect(try await api.get(path, key: key).status == 200)
            #expect(try await api.send("POST", "/v1/transactions", key: other, body: body).problem == "malformed-json")
            await half.send([0x20])
            #expect(await half.answer()?.status == 400)
            while api.budgets.held(id, .bodyBytes) > 0, ContinuousClock.now < held { await Task.yield() }
            #expect(try await api.send("POST", "/v1/transactions", key: key, body: body).problem == "malformed-json")
        }
    }

    @Test func `API answers 408 where a body does not arrive`() async throws {
        try await RunningAPI.with(bodyTimeout: .milliseconds(1)) { api in
            let key = try await api.key()
            let half = try RawClient(port: api.port)
            await half.send(
                "POST /v1/transactions HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 40\r\n"
                    + "Authorization: Bearer \(key)\r\n\r\n{")
            let answer = await half.answer()
            #expect(answer?.status == 408 && answer?.headers["retry-after"] == "1")
            #expect(answer?.body.contains("urn:storekeeper:problem:request-timeout") == true)
        }
    }

    @Test func `API answers while strangers hold more connections than there are`() async throws {
        try await RunningAPI.with(connections: 4) { api in
            let key = try await api.key()
            let idle = try (0..<40).map { _ in try RawClient(port: api.port) }
            #expect(try await api.get(path, key: key).status == 200)
            // The oldest of them made room.
            await idle[0].waitForTheEnd()
        }
    }

    @Test func `API serves the keys that it has read while the database is away, for an hour`() async throws {
        try await RunningAPI.with { api in
            let key = try await api.key()
            api.clock.advance(by: 3599)
            #expect(try await api.get(path, key: key).status == 200)
            api.clock.advance(by: 2)
            let answer = try await api.get(path, key: key)
            #expect(answer.status == 503 && answer.problem == "unavailable" && answer.headers["retry-after"] == "5")
        }
    }

    @Test func `API refuses requests beyond those that a key may have in progress`() async throws {
        try await RunningAPI.with(limits: KeyLimits(requests: 1)) { api in
            let (key, other) = (try await api.key(), try await api.key())
            let tag = try #require(try await api.get(path, key: key).headers["etag"])
            let path = path
            await api.looks.before {
                api.clock.advance(by: 5)
                let refused = try await api.get(path, key: key)
                #expect(refused.status == 429 && refused.headers["retry-after"] == "1")
                #expect(try await api.get(path, key: other).status == 200)
            }
            let waiting = try await api.get(path, key: key, headers: ["If-None-Match": tag, "Prefer": "wait=3"])
            #expect(waiting.status == 304)
        }
    }

    @Test(arguments: [(0, 0), (1, 13)])
    func `A read after an upload takes one of its key's waits, looks more and more seldom, and is behind without one`(
        waits: Int, looks: Int
    ) async throws {
        try await RunningAPI.with(limits: KeyLimits(waits: waits)) { api in
            let (key, order) = (try await api.key(), Order())
            await api.looks.before { order.append("look") }
            let token = ReadAfter.token([UUID(), UUID()])
            let answer = try await api.get(path, key: key, headers: ["Storekeeper-Read-After": token])
            #expect(answer.status == 200 && answer.headers["storekeeper-read-after"] == "behind")
            #expect(order.names.count == looks)
        }
    }

    @Test func `Storekeeper-Read-After of the largest upload is no header that is too large`() async throws {
        try await RunningAPI.with(limits: KeyLimits(waits: 0)) { api in
            let token = ReadAfter.token((0..<256).map { _ in UUID() })
            #expect(token.utf8.count > 5000)
            let answer = try await api.get(
                path, key: try await api.key(), headers: ["Storekeeper-Read-After": token])
            #expect(answer.status == 200 && answer.headers["storekeeper-read-after"] == "behind")
        }
    }

    @Test func `FairQueue takes keys in turns, and each key's work in its order`() {
        var queue = FairQueue<Int>()
        let (first, second) = (UUID(), UUID())
        for number in 0..<100 { queue.append(number, of: first) }
        queue.append(1000, of: second)
        queue.append(1001, of: second)
        #expect(queue.count == 102)
        #expect(queue.popFirst(5) == [0, 1000, 1, 1001, 2])
        #expect(queue.popFirst(1000) == Array(3..<100))
        #expect(queue.popFirst() == nil && queue.isEmpty)
    }

    @Test func `FairQueue passes over keys that may have no turn`() {
        var queue = FairQueue<Int>()
        let (first, second) = (UUID(), UUID())
        queue.append(0, of: first)
        queue.append(1, of: first)
        queue.append(1000, of: second)
        #expect(queue.popFirst(where: { $0 == second })?.element == 1000)
        #expect(queue.popFirst(where: { $0 == second }) == nil && queue.count == 2)
        #expect(queue.popFirst(2) == [0, 1] && queue.isEmpty)
    }

    @Test func `Database lends one key at most half of its connections, and serves all its work`() async throws {
        try await TestDatabase.use { configuration in
            let connections = (0..<4).map { _ in TestDatabase.connection(configuration) }
            let database = Database(connections)
            let (loans, id) = (Loans(), UUID())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<40 {
                    group.addTask {
                        try await ServedKey.$id.withValue(id) {
                            try await database.withConnection { connection in
                                loans.begin()
                                defer { loans.end() }
                                try await connection.run(unsafeScript: "select 1")
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(loans.count == 40 && loans.most <= 2)
            await database.close()
        }
    }

    /// How many connections were on loan.
    private final class Loans: Sendable {
        private let state = Mutex((count: 0, now: 0, most: 0))
        var count: Int { state.withLock { $0.count } }
        var most: Int { state.withLock { $0.most } }

        func begin() {
            state.withLock { state in
                state.count += 1
                state.now += 1
                state.most = max(state.most, state.now)
            }
        }

        func end() { state.withLock { $0.now -= 1 } }
    }

    /// What was done, in order.
    private final class Order: Sendable {
        private let done = Mutex<[String]>([])
        var names: [String] { done.withLock(\.self) }
        func append(_ name: String) { done.withLock { $0.append(name) } }
    }

    @Test func `WorkLane does the work of the key that has cost least first`() async {
        let lane = WorkLane(threads: 1)
        let (costly, cheap) = (UUID(), UUID())
        let order = Order()
        let gate = DispatchSemaphore(value: 0)
        await withTaskGroup { group in
            group.addTask {
                await lane.run(for: costly) {
                    gate.wait()
                    Self.burn(.milliseconds(20))
                }
            }
            while lane.waiting(of: costly) > 0 || !lane.isBusy { await Task.yield() }
            for number in 0..<3 {
                group.addTask { await lane.run(for: costly) { order.append("costly \(number)") } }
                while lane.waiting(of: costly) <= number { await Task.yield() }
            }
            group.addTask { await lane.run(for: cheap) { order.append("cheap") } }
            while lane.waiting(of: cheap) == 0 { await Task.yield() }
            gate.signal()
        }
        #expect(order.names == ["cheap", "costly 0", "costly 1", "costly 2"])
    }

    @Test func `Uploads of a key that has used its verification are refused before any work`() async throws {
        try await UploadFixture.with(lane: WorkLane(seconds: 1, threads: 1)) { fixture in
            let id = try #require(try await fixture.api.id(of: fixture.key))
            let signed = try fixture.transaction()
            #expect(try await fixture.upload([signed]).accepted == 1)
            await fixture.api.lane.run(for: id) { Self.burn(.milliseconds(2500)) }
            let refused = try await fixture.post { json in
                json.strings("signedTransactions", of: [String(decoding: signed, as: UTF8.self)])
            }
            #expect(refused.status == 429 && refused.problem == "too-many-requests")
            #expect(refused.headers["retry-after"].flatMap { Int($0) } ?? 0 >= 1)
            let other = try await fixture.api.key(environment: .production)
            let accepted = try await fixture.post(key: other) { json in
                json.strings("signedTransactions", of: [String(decoding: signed, as: UTF8.self)])
            }
            #expect(accepted.status == 200)
        }
    }

    /// Uses processor time.
    private static func burn(_ time: Duration) {
        var now = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
        let end = now.tv_sec * 1_000_000_000 + now.tv_nsec + Int(time / .nanoseconds(1))
        while now.tv_sec * 1_000_000_000 + now.tv_nsec < end { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) }
    }
}
