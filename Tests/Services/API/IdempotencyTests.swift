import Contracts
import Foundation
import Postgres
import Storage
import StrictJSON
import TestSupport
import Testing
import WebhookDelivery

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
        try await SampleState.with { api, state in
            let store = IdempotencyStore(state.connection)
            let (id, now) = (UUID(), state.now)
            func claim(after seconds: Double) async throws -> IdempotencyStore.Known {
                let moment = now.addingTimeInterval(seconds)
                return try await store.claim(
                    "a", of: id, digest: Array(repeating: 1, count: 32), at: moment,
                    expiry: moment.addingTimeInterval(-Idempotency.retention),
                    abandoned: moment.addingTimeInterval(-Idempotency.patience))
            }
            func begin(claimedAfter seconds: Double = 0) async throws -> Int {
                try await state.connection.pipeline([
                    IdempotencyStore.command(
                        beginning: "a", of: id, claimedAt: now.addingTimeInterval(seconds),
                        answer: Idempotency.interrupted.response.bytes)
                ])[0].affected
            }
            #expect(try await claim(after: 0) == .new)
            #expect(try await begin() == 1)
            // Another execution of the request stops here.
            #expect(try await begin() == 0)
            try await store.withdraw("a", of: id, claimedAt: now)
            #expect(try await claim(after: 59) == .inProgress)
            // A build that knows nothing of it replays the row as an answer.
            let row = try await state.connection.execute(
                unsafeSQL: """
                    select status, response_headers ->> 'Content-Type' as type, response_body
                    from api_idempotency
                    """
            )[0]
            #expect(try row.value("status", as: Int32.self) == 409)
            #expect(try row.value("type", as: String.self) == "application/problem+json")
            let problem = try JSONDocument(row.value("response_body", as: [UInt8].self)).root
            #expect(problem["type"]?.string == Problem.Kind.outcomeUnknown.type)
            #expect(try await claim(after: 61) == .unsettled)
            #expect(try await claim(after: Idempotency.retention - 1) == .unsettled)
            _ = try await state.connection.pipeline([
                IdempotencyStore.command(undoing: "a", of: id, claimedAt: now)
            ])
            try await store.withdraw("a", of: id, claimedAt: now)
            #expect(try await claim(after: 62) == .new)
            #expect(try await begin(claimedAfter: 62) == 1)
            #expect(try await claim(after: 62 + Idempotency.retention + 1) == .new)
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

    // MARK: Answers in the transaction of the effect

    @Test func `Refresh whose answer was lost is not asked for again under its Idempotency-Key`() async throws {
        try await Self.withSubscription { fixture, _ in
            let id = try #require(
                await fixture.api.purchases().first, "the purchase that the fixture has applied")
            func refresh(_ name: String) async throws -> RunningAPI.Answer {
                try await fixture.api.send(
                    "POST", "/v1/subscriptions/\(id)/refresh", key: fixture.key, headers: ["Idempotency-Key": name])
            }
            try await fixture.api.run(Self.secondAnswersFail)
            let first = try await refresh("a")
            #expect(first.status == 202)
            // Later than a second request returns the first one.
            try await fixture.api.pass(2 * RefreshStore.interval)
            let second = try await refresh("a")
            #expect(second.body == first.body && second.headers["idempotency-replayed"] == "true")
            #expect(try await refresh("b").json?["refreshId"]?.string != first.json?["refreshId"]?.string)
        }
    }

    @Test func `Replay whose answer was lost is enqueued once under its Idempotency-Key`() async throws {
        try await SampleState.with { api, state in
            let key = try await api.key()
            let endpoint = WebhookEndpoint(
                id: UUID(), environment: .sandbox, url: "https://example.com/hook", filter: WebhookFilter(),
                createdAt: Date(timeIntervalSince1970: 0))
            try await WebhookEndpointStore(state.connection).create(endpoint, audit: WebhookTests.audit)
            try await state.subscribed()
            func replay(_ name: String) async throws -> RunningAPI.Answer {
                try await api.send(
                    "POST", "/v1/webhook-endpoints/\(endpoint.id.uuidString.lowercased())/replays", key: key,
                    headers: ["Idempotency-Key": name],
                    body: Array(#"{"originalTransactionId":"\#(SampleState.purchase)"}"#.utf8))
            }
            try await api.run(Self.secondAnswersFail)
            let first = try await replay("a")
            #expect(first.status == 202 && first.json?["enqueued"]?.int64 == 1)
            let second = try await replay("a")
            #expect(second.body == first.body && second.headers["idempotency-replayed"] == "true")
            #expect(try await replay("b").problem == "conflict")
            // A replay is accepted once the first one is delivered, as the problem says.
            try await api.run("update webhook_delivery set state = 'delivered', finished_at = now()")
            #expect(try await replay("b").status == 202)
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

    // 409 is in place of an answer.
    private static let answersFail = failure(
        "before update on api_idempotency for each row when (new.status > 0 and new.status <> 409)")

    /// The answer is stored with the effect; the handler's caller stores it once more.
    private static let secondAnswersFail = failure(
        "before update on api_idempotency for each row when (old.status > 0)")

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

    /// The ids of all purchases.
    func purchases() async throws -> [String] {
        let connection = TestDatabase.connection(database)
        let rows = try await connection.execute(
            unsafeSQL: "select original_transaction_id from subscription order by 1")
        await connection.close()
        return try rows.map { row in try row.value("original_transaction_id") }
    }
}
