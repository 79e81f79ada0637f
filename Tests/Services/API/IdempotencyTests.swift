import Contracts
import Foundation
import Postgres
import Storage
import StrictJSON
import TestSupport
import Testing

@testable import API
@testable import AppStoreSamples

/// A request with an Idempotency-Key has effect once, also where Postgres fails after the effect.
@Suite(.hangLimit) struct IdempotencyTests {
    private let customer = "/v1/customers/user-1"

    // MARK: Extensions

    @Test
    func `Extension that Apple has done is answered and not asked for again, where the audit log fails afterwards`()
        async throws
    {
        try await Self.withSubscription { fixture, extend in
            try await fixture.api.run(
                Self.failure(
                    "before insert on operator_action for each row when (new.outcome = 'done')"))
            let first = try await extend("a")
            #expect(first.status == 200)
            let second = try await extend("a")
            #expect(second.body == first.body && second.headers["idempotency-replayed"] == "true")
            #expect(try await fixture.actions().map(\.outcome) == [.requested])
            // Apple allows two, and has done one.
            #expect(try await extend("b").status == 200)
        }
    }

    @Test func `Extension whose answer could not be stored is never asked for again under its Idempotency-Key`()
        async throws
    {
        try await Self.withSubscription { fixture, extend in
            try await fixture.api.run(Self.answersFail)
            #expect(try await extend("a").status == 200)
            #expect(try await extend("a").problem == "request-in-progress")
            try await fixture.api.pass(Idempotency.patience + 1)
            let repeated = try await extend("a")
            #expect(repeated.problem == "outcome-unknown" && repeated.json?["retryable"]?.bool == false)
            #expect(try await fixture.actions().map(\.outcome) == [.done, .requested])
            // Apple allows two, and has done one.
            #expect(try await extend("b").status == 200)
            #expect(try await extend("c").json?["appleErrorCode"]?.int64 == 4_030_005)
        }
    }

    @Test
    func `A key whose request has begun its effect is neither withdrawn nor free before it expires, unless undone`()
        async throws
    {
        try await RunningAPI.with { api in
            try await SampleState.use(api) { state in
                let store = IdempotencyStore(state.connection)
                let (id, now) = (UUID(), state.now)
                func claim(after seconds: Double) async throws -> IdempotencyStore.Known {
                    let moment = now.addingTimeInterval(seconds)
                    return try await store.claim(
                        "a", of: id, digest: Array(repeating: 1, count: 32), at: moment,
                        expiry: moment.addingTimeInterval(-Idempotency.retention),
                        abandoned: moment.addingTimeInterval(-Idempotency.patience))
                }
                func begin() async throws -> Int {
                    try await state.connection.pipeline([IdempotencyStore.command(beginning: "a", of: id)])[0].affected
                }
                #expect(try await claim(after: 0) == .new)
                #expect(try await begin() == 1)
                // Another execution of the request stops here.
                #expect(try await begin() == 0)
                try await store.withdraw("a", of: id)
                #expect(try await claim(after: 59) == .inProgress)
                #expect(try await claim(after: 61) == .unsettled)
                #expect(try await claim(after: Idempotency.retention - 1) == .unsettled)
                _ = try await state.connection.pipeline([IdempotencyStore.command(undoing: "a", of: id)])
                try await store.withdraw("a", of: id)
                #expect(try await claim(after: 62) == .new)
                #expect(try await begin() == 1)
                #expect(try await claim(after: 62 + Idempotency.retention + 1) == .new)
            }
        }
    }

    // MARK: Grants and certificates

    @Test func `Grant whose answer was lost is made once, with one row of the audit log`() async throws {
        try await RunningAPI.with { api in
            let key = try await api.key(bundleIds: [SampleState.app])
            _ = try await api.send("PUT", customer, key: key, json: "{}")
            func grant(_ name: String, _ reason: String = "r") async throws -> String? {
                let answer = try await api.send(
                    "POST", "\(customer)/grants", key: key, headers: ["Idempotency-Key": name],
                    body: Array(#"{"productId":"pro","reason":"\#(reason)","confirmUnknown":true}"#.utf8))
                #expect(answer.status == 201 && answer.headers["idempotency-replayed"] == nil)
                return answer.json?["grantId"]?.string
            }
            func grants() async throws -> Int? {
                try await api.get("\(customer)/grants", key: key).json?["data"]?.elements.count
            }
            let first = try #require(try await grant("a"))
            // A COMMIT without an answer: the key is withdrawn.
            try await api.run("delete from api_idempotency")
            #expect(try await grant("a") == first)
            try await api.run("delete from api_idempotency")
            // The answer is not stored: the key is abandoned after a minute.
            try await api.run(Self.answersFail)
            #expect(try await grant("a") == first)
            try await api.pass(Idempotency.patience + 1)
            #expect(try await grant("a") == first)
            #expect(try await grants() == 1)
            let rows = try await SampleState.use(api) { try await OperatorActionStore($0.connection).newest(10) }
            #expect(rows.map(\.operation) == ["customers grant"])
            // Another key, another body, and the key after a day make others.
            #expect(try await grant("b") != first)
            try await api.run("delete from api_idempotency")
            #expect(try await grant("a", "another") != first)
            try await api.pass(Idempotency.retention + 1)
            #expect(try await grant("a") != first)
            #expect(try await grants() == 4)
        }
    }

    @Test func `Erasure whose answer was lost gives its certificate again, though the customer is forgotten`()
        async throws
    {
        try await RunningAPI.with { api in
            let key = try await api.key(bundleIds: [SampleState.app])
            _ = try await api.send("PUT", customer, key: key, json: "{}")
            func erase(_ name: String) async throws -> RunningAPI.Answer {
                try await api.send(
                    "POST", "\(customer)/erasure", key: key, headers: ["Idempotency-Key": name],
                    body: Array(#"{"extent":"erase"}"#.utf8))
            }
            let first = try await erase("a")
            #expect(first.status == 200)
            try await api.run("delete from api_idempotency")
            let second = try await erase("a")
            #expect(second.status == 200 && second.body == first.body)
            #expect(try await erase("b").problem == "not-found")
        }
    }

    @Test
    func `Ids of a request are of its API key, its Idempotency-Key and its body, and known again within 24 hours`() {
        let (key, digest) = (UUID(), [UInt8](repeating: 1, count: 32))
        let midnight = Date(timeIntervalSince1970: 20_000 * 86_400)
        func claim(
            _ name: String = "a", of id: UUID? = nil, body bytes: [UInt8]? = nil, after seconds: Double
        ) -> IdempotencyClaim {
            IdempotencyClaim(name, of: id ?? key, digest: bytes ?? digest, at: midnight.addingTimeInterval(seconds))
        }
        let first = claim(after: -1)
        #expect(claim(after: -2).id == first.id)
        #expect(claim(after: 1).made(first.id, at: midnight.addingTimeInterval(-1)))
        #expect(claim(after: 86_398).made(first.id, at: midnight.addingTimeInterval(-1)))
        #expect(!claim(after: 86_399).made(first.id, at: midnight.addingTimeInterval(-1)))
        #expect(claim(after: 86_399).id != first.id)
        for other in [claim("b", after: -1), claim(of: UUID(), after: -1), claim(body: [2], after: -1)] {
            #expect(other.id != first.id && !other.made(first.id, at: midnight))
        }
    }

    // MARK: -

    /// A subscription that Apple knows, and what extends it under an Idempotency-Key.
    private static func withSubscription(
        _ body:
            @escaping @Sendable (
                UploadFixture, @Sendable (String) async throws -> RunningAPI.Answer
            ) async throws -> Void
    ) async throws {
        try await AppleTests.with { fixture, store in
            let bought = try store.subscribe()
            try await fixture.apply([AppleTests.webhook(bought.signed[0])])
            try await body(fixture) { name in
                try await fixture.api.send(
                    "POST", "/v1/subscriptions/\(bought.originalTransactionId)/extension", key: fixture.key,
                    headers: ["Idempotency-Key": name], body: Array(#"{"days":3,"reason":"outage"}"#.utf8))
            }
        }
    }

    private static let answersFail = failure(
        "before update on api_idempotency for each row when (new.status > 0)")

    /// Has the database go away, as its clients see it, at some statements.
    private static func failure(_ statements: String) -> String {
        """
        create function go_away() returns trigger language plpgsql as $$
        begin
            raise exception 'the database is starting up' using errcode = '57P03';
        end
        $$;
        create trigger go_away \(statements) execute function go_away();
        """
    }
}

extension RunningAPI {
    /// Runs a script in the database of the API.
    func run(_ script: String) async throws {
        let connection = TestDatabase.connection(database)
        try await connection.run(unsafeScript: script)
        await connection.close()
    }

    /// Lets seconds pass; the keys are read again.
    func pass(_ seconds: Double) async throws {
        clock.advance(by: seconds)
        try await keys.turn()
    }
}
