import Foundation
import TestSupport
import Testing

@testable import AppStore
@testable import ServerAPI

/// Whole calls against a server on a real socket.
@Suite struct APICallerTests {
    private static let info = ScriptedStore.Reply.json(#"{"signedTransactionInfo":"a.b.c"}"#)
    private static let days = ExtendRenewalDateRequest(
        extendByDays: 1, extendReasonCode: .undeclared, requestIdentifier: "i")

    @Test(arguments: [
        ScriptedStore.Reply.code(5_000_001), .code(5_000_000), .code(4_040_006), .answer(502), .bytes(""),
        .bytes("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"), .bytes("nonsense\r\n\r\n"),
    ])
    func `APICaller retries what may work the next time`(failure: ScriptedStore.Reply) async throws {
        try await APIFixture.scene { _, number in
            number < 2 ? failure : Self.info
        } _: { fixture, store in
            _ = try await fixture.client(store.url).transactionInfo("1")
            #expect(fixture.attempts.map(\.result) == ["transient", "transient", "success"])
            #expect(fixture.attempts.map(\.number) == [1, 2, 3])
            #expect(fixture.ticking.sleeps == [.milliseconds(500), .seconds(1)])
        }
    }

    @Test func `APICaller does not retry what would be answered the same`() async throws {
        try await APIFixture.scene { _, _ in
            .code(4_040_010, "Transaction id not found.")
        } _: { fixture, store in
            let error = try await APIFixture.error { _ = try await fixture.client(store.url).transactionInfo("1") }
            #expect(error.code == .transactionIdNotFound && error.status == 404 && !error.isRetryable)
            #expect(store.requests.count == 1)
        }
    }

    @Test func `APICaller reports the last failure in the end`() async throws {
        try await APIFixture.scene { _, _ in
            .code(5_000_001, "An unknown error occurred. Please try again.")
        } _: { fixture, store in
            let error = try await APIFixture.error { _ = try await fixture.client(store.url).transactionInfo("1") }
            #expect(error.code == .generalInternalRetryable && error.isRetryable)
            #expect(store.requests.count == 5)
        }
    }

    @Test func `429 closes the bucket until Apple's moment in milliseconds`() async throws {
        try await APIFixture.scene { _, number in
            number == 0 ? .code(4_290_000, headers: [("Retry-After", "1780000012345")]) : Self.info
        } _: { fixture, store in
            _ = try await fixture.client(store.url).transactionInfo("1")
            #expect(fixture.attempts.map(\.result) == ["rate-limited", "success"])
            #expect(abs(fixture.ticking.now.offset / .seconds(1) - 12.345) < 0.001)
        }
    }

    @Test func `429 for longer than the call may take is an error at once, and of the next call before it is sent`()
        async throws
    {
        try await APIFixture.scene { _, _ in
            .code(4_290_000, headers: [("Retry-After", "1780003600000")])
        } _: { fixture, store in
            let client = fixture.client(store.url)
            for _ in 0..<2 {
                let error = try await APIFixture.error { _ = try await client.transactionInfo("1") }
                #expect(error.isRetryable && error.code == .rateLimitExceeded)
                #expect(abs(try #require(error.retryAfter).timeIntervalSince(APIFixture.start) - 3600) < 0.001)
                #expect(error.description.contains("2026-05-28T21:26:40.000Z"), "\(error)")
            }
            #expect(store.requests.count == 1 && fixture.ticking.sleeps.isEmpty)
        }
    }

    @Test func `Storm of 429 is waited out, and ends at the deadline where it does not end`() async throws {
        try await APIFixture.scene { request, number in
            number < 6 || request.target.hasSuffix("2") ? .code(4_290_000) : Self.info
        } _: { fixture, store in
            let client = fixture.client(store.url, retry: APIRetryPolicy(attempts: 1))
            _ = try await client.transactionInfo("1")
            #expect(store.requests.count == 7)
            let error = try await APIFixture.error { _ = try await client.transactionInfo("2") }
            #expect(error.code == .rateLimitExceeded)
        }
    }

    @Test func `Extension is not asked for twice when it is not known whether it was done`() async throws {
        for reply in [ScriptedStore.Reply.bytes(""), .code(5_000_000), .answer(503)] {
            try await APIFixture.scene { _, _ in
                reply
            } _: { fixture, store in
                let client = fixture.client(store.url)
                let one = try await APIFixture.error { _ = try await client.extendRenewalDate(of: "1", Self.days) }
                let all = try await APIFixture.error {
                    _ = try await client.extendRenewalDates(MassExtendRenewalDateRequest(productId: "p"))
                }
                guard case .unsettled(let advice) = one, case .unsettled(let other) = all else {
                    Issue.record("\(one) \(all)")
                    return
                }
                #expect(advice.contains("look at the renewal date") && other.contains("ask for the status"))
                #expect(!one.isRetryable && store.requests.count == 2)
            }
        }
    }

    @Test func `Extension that Apple says it has not done is asked for again`() async throws {
        try await APIFixture.scene { _, number in
            number == 0 ? .code(5_000_001) : .json(#"{"success":true}"#)
        } _: { fixture, store in
            let extended = try await fixture.client(store.url).extendRenewalDate(of: "1", Self.days)
            #expect(extended.success == true)
            #expect(store.requests.count == 2)
        }
    }

    @Test func `APICaller retries everything after a refused connection, extensions too`() async throws {
        try await APIFixture.scene { fixture in
            let client = fixture.client(try ScriptedStore.closed())
            let reading = try await APIFixture.error { _ = try await client.transactionInfo("1") }
            let extending = try await APIFixture.error { _ = try await client.extendRenewalDate(of: "1", Self.days) }
            guard case .unreachable(let advice) = reading, case .unreachable = extending else {
                Issue.record("\(reading) \(extending)")
                return
            }
            #expect(advice.contains("check the network"))
            #expect(fixture.attempts.count == 10 && fixture.attempts.allSatisfy { $0.status == nil })
        }
    }

    @Test(arguments: [ScriptedStore.Reply.silence, .headOnly])
    func `Attempt without a whole answer in time is given up, and the deadline ends the call`(
        reply: ScriptedStore.Reply
    ) async throws {
        try await APIFixture.scene { _, _ in
            reply
        } _: { fixture, store in
            var client = fixture.client(
                store.url, retry: APIRetryPolicy(firstPause: .milliseconds(10), attemptTimeout: .milliseconds(20)))
            client.deadline = .milliseconds(25)
            let error = try await APIFixture.error { _ = try await client.transactionInfo("1") }
            guard case .unreachable = error else {
                Issue.record("\(error)")
                return
            }
            // Pauses of 10 and 20 ms; the attempts themselves take none of this clock's time.
            #expect(fixture.attempts.count == 2)
        }
    }

    @Test func `Answer beyond the limit is not read to its end`() async throws {
        try await APIFixture.scene(maximumResponseBytes: 1000) { _, _ in
            .answer(200, [UInt8](repeating: UInt8(ascii: " "), count: 5000))
        } _: { fixture, store in
            let error = try await APIFixture.error { _ = try await fixture.client(store.url).transactionInfo("1") }
            #expect(error.description.contains("more than 1000 bytes") && !error.isRetryable)
            #expect(store.requests.count == 1)
        }
    }

    @Test(arguments: [
        "", "{", "[]", #"{"signedTransactionInfo":1}"#, #"{"signedTransactionInfo":null}"#,
        #"{"signedTransactionInfo":"a","signedTransactionInfo":"b"}"#,
    ])
    func `Success that is not as documented is unreadable`(body: String) async throws {
        try await APIFixture.scene { _, _ in
            .json(body)
        } _: { fixture, store in
            let error = try await APIFixture.error { _ = try await fixture.client(store.url).transactionInfo("1") }
            guard case .unreadable = error else {
                Issue.record("\(error)")
                return
            }
            #expect(store.requests.count == 1)
        }
    }

    @Test func `Redirection is not followed: the token is for Apple only`() async throws {
        try await APIFixture.scene { _, _ in
            .answer(302, headers: [("Location", "/elsewhere")])
        } _: { fixture, store in
            let error = try await APIFixture.error { _ = try await fixture.client(store.url).transactionInfo("1") }
            #expect(error.status == 302 && store.requests.count == 1)
        }
    }

    @Test func `Cancelled task ends its call`() async throws {
        let arrived = AsyncStream<Void>.makeStream()
        try await APIFixture.scene { _, _ in
            arrived.continuation.yield()
            return .silence
        } _: { fixture, store in
            let client = fixture.client(store.url)
            let task = Task { _ = try await client.transactionInfo("1") }
            for await _ in arrived.stream { break }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }
}
