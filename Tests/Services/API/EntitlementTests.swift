import Contracts
import Foundation
import Postgres
import Storage
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import API

/// What accounts may use, asked over HTTP.
struct EntitlementTests {
    private let path = "/v1/accounts/\(SampleState.account)/entitlements"

    @Test func `Entitlements of an account that no purchase names are an empty list`() async throws {
        try await RunningAPI.with { api in
            let answer = try await api.get(path, key: try await api.key())
            #expect(answer.status == 200 && answer.json?["entitlements"]?.elements.isEmpty == true)
            #expect(answer.json?["changesAt"]?.isNull == true && answer.json?["version"]?.int64 == 0)
        }
    }

    @Test func `Entitlements name the product, its end, and the notification that decided`() async throws {
        try await SampleState.with { api, state in
            let uuid = try await state.subscribed()
            let answer = try await api.get(path.uppercasedAccount, key: try await api.key())
            let json = try #require(answer.json)
            let one = try #require(json["entitlements"]?.elements.first)
            #expect(json["entitlements"]?.elements.count == 1 && json["withheld"]?.elements.isEmpty == true)
            #expect(one["productId"]?.string == "pro.monthly" && one["givesAccess"]?.bool == true)
            #expect(one["until"]?.int64 == state.now.addingTimeInterval(1000).milliseconds)
            #expect(one["willRenew"]?.bool == true)
            #expect(one["because"]?["notificationUUID"]?.string == uuid.uuidString.lowercased())
            #expect(json["changesAt"]?.int64 == one["until"]?.int64)
            #expect(json["asOf"]?.int64 == state.now.milliseconds)
            #expect(answer.headers["cache-control"] == "private, no-cache")
        }
    }

    @Test func `Entitlements at another moment are those of that moment`() async throws {
        try await SampleState.with { api, state in
            try await state.subscribed()
            let key = try await api.key()
            for (seconds, count) in [(-101.0, 0), (-100, 1), (999, 1), (1000, 0)] {
                let moment = state.now.addingTimeInterval(seconds).milliseconds
                let answer = try await api.get("\(path)?at=\(moment)", key: key)
                #expect(answer.json?["entitlements"]?.elements.count == count, "\(seconds)")
            }
        }
    }

    @Test func `Entitlements withhold what is over, with the state of the purchase`() async throws {
        try await SampleState.with { api, state in
            try await state.subscribed("EXPIRED", "VOLUNTARY", from: -1000, to: -10, status: 2, signed: -9)
            let json = try #require(try await api.get(path, key: try await api.key()).json)
            #expect(json["entitlements"]?.elements.isEmpty == true)
            #expect(json["withheld"]?.elements.first?["reason"]?.string == "expired")
            #expect(json["withheld"]?.elements.first?["productId"]?.string == "pro.monthly")
            #expect(json["version"]?.int64 == 1)
        }
    }

    @Test func `Product is owned, over or never bought, with its newest transaction`() async throws {
        try await SampleState.with { api, state in
            let key = try await api.key()
            let product = "/v1/accounts/\(SampleState.account)/products/pro.monthly"
            let never = try #require(try await api.get(product, key: key).json)
            #expect(never["isOwned"]?.bool == false && never["reason"]?.string == "neverBought")
            #expect(never["transaction"]?.isNull == true)
            try await state.subscribed()
            try await state.subscribed("DID_RENEW", nil, from: 10, to: 2000, transaction: "2", signed: -5)
            let owned = try #require(try await api.get(product, key: key).json)
            #expect(owned["isOwned"]?.bool == true && owned["reason"]?.string == "transaction")
            #expect(owned["originalTransactionId"]?.string == SampleState.purchase)
            #expect(owned["transaction"]?["transactionId"]?.string == "2")
            let other = "/v1/accounts/\(SampleState.account)/products/pro.yearly"
            #expect(try await api.get(other, key: key).json?["reason"]?.string == "neverBought")
            try await state.subscribed(
                "REFUND", nil, from: 10, to: 2000, status: 5, transaction: "2", signed: -2, revoked: -2)
            try await state.subscribed("REFUND", nil, status: 5, signed: -1, revoked: -1)
            let refunded = try #require(try await api.get(product, key: key).json)
            #expect(refunded["isOwned"]?.bool == false && refunded["reason"]?.string == "revoked")
            // Nothing of another environment is told.
            let live = try await api.key(environment: .production)
            #expect(try await api.get(product, key: live).json?["transaction"]?.isNull == true)
        }
    }

    @Test func `Entitlements of one environment are invisible to a key of the other`() async throws {
        try await SampleState.with { api, state in
            try await state.subscribed(environment: .production)
            let test = try await api.get(path, key: try await api.key())
            #expect(test.json?["entitlements"]?.elements.isEmpty == true)
            #expect(test.json?["withheld"]?.elements.isEmpty == true)
            let live = try await api.get(path, key: try await api.key(environment: .production))
            #expect(live.json?["entitlements"]?.elements.count == 1)
        }
    }

    @Test func `Entitlements are those of the key's apps, and of the one asked about`() async throws {
        try await SampleState.with { api, state in
            try await state.subscribed()
            try await state.subscribed(purchase: "2", bundleId: "com.example.other")
            let both = try await api.key()
            #expect(try await api.get(path, key: both).json?["entitlements"]?.elements.count == 2)
            let one = try await api.get("\(path)?bundleId=\(SampleState.app)", key: both)
            #expect(one.json?["entitlements"]?.elements.count == 1)
            let narrow = try await api.key(bundleIds: [SampleState.app])
            #expect(try await api.get(path, key: narrow).json?["entitlements"]?.elements.count == 1)
            let rejected = try await api.get("\(path)?bundleId=com.example.other", key: narrow)
            #expect(rejected.status == 403 && rejected.problem == "app-not-allowed")
        }
    }

    @Test func `Entitlements that are known by their ETag are answered 304 until they change`() async throws {
        try await SampleState.with { api, state in
            try await state.subscribed()
            let key = try await api.key()
            let first = try await api.get(path, key: key)
            let tag = try #require(first.headers["etag"])
            let known = try await api.get(path, key: key, headers: ["If-None-Match": tag])
            #expect(known.status == 304 && known.body.isEmpty && known.headers["etag"] == tag)
            try await state.subscribed("DID_RENEW", nil, from: 1000, to: 2000, transaction: "4", signed: 10)
            let changed = try await api.get(path, key: key, headers: ["If-None-Match": tag])
            #expect(changed.status == 200 && changed.headers["etag"] != tag)
            #expect(changed.json?["version"]?.int64 == 2)
        }
    }

    @Test func `An ETag of entitlements at another moment says nothing about now`() async throws {
        try await SampleState.with { api, state in
            let key = try await api.key()
            let grant = CustomerRecords.ManualGrant(
                id: UUID(), environment: .sandbox, bundleId: SampleState.app,
                appAccountToken: try #require(UUID(uuidString: SampleState.account)), productId: "pro",
                reason: "r", startsAt: state.now.addingTimeInterval(1000), endsAt: nil, createdAt: state.now,
                createdBy: UUID())
            _ = try await state.connection.pipeline([CustomerRecords.command(adding: grant)])
            let moment = state.now.addingTimeInterval(1500).milliseconds
            let later = try await api.get("\(path)?at=\(moment)", key: key)
            #expect(later.json?["entitlements"]?.elements.count == 1)
            let tag = try #require(later.headers["etag"])
            let now = try await api.get(path, key: key, headers: ["If-None-Match": tag])
            #expect(now.status == 200 && now.json?["entitlements"]?.elements.isEmpty == true)
        }
    }

    @Test func `Entitlements that are waited for are answered when they change`() async throws {
        try await SampleState.with { api, state in
            let key = try await api.key()
            let tag = try #require(try await api.get(path, key: key).headers["etag"])
            await api.looks.before { try await state.subscribed() }
            let changed = try await api.get(
                path, key: key, headers: ["If-None-Match": tag, "Prefer": "wait=20"])
            #expect(changed.status == 200 && changed.headers["preference-applied"] == "wait=20")
            #expect(changed.json?["entitlements"]?.elements.count == 1)
        }
    }

    @Test func `Entitlements that do not change while waited for are answered 304`() async throws {
        try await RunningAPI.with { api in
            let key = try await api.key()
            let tag = try #require(try await api.get(path, key: key).headers["etag"])
            await api.looks.before { api.clock.advance(by: 1) }
            let answer = try await api.get(path, key: key, headers: ["If-None-Match": tag, "Prefer": "wait=3"])
            #expect(answer.status == 304)
        }
    }

    @Test func `Look-ups that share a statement get the lines of their own account, apps, environment and moment`()
        async throws
    {
        try await SampleState.with { api, state in
            let accounts = (1...5).map { _ in UUID() }
            for (index, account) in accounts.enumerated() {
                for (environment, app) in [
                    (StoreEnvironment.sandbox, "a"), (.sandbox, "b"), (.production, "a"),
                ] {
                    try await state.subscribed(
                        from: -100, to: index == 0 ? 50 : 1000, purchase: "\(index)\(app)",
                        account: account.uuidString.lowercased(), environment: environment, bundleId: app)
                }
            }
            let (now, later) = (state.now, state.now.addingTimeInterval(60))
            let connections = (0..<3).map { _ in TestDatabase.connection(api.database) }
            let lookups = EntitlementLookups(Database(connections))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<300 {
                    let account = accounts[number % 5]
                    let environment: StoreEnvironment = number % 3 == 0 ? .production : .sandbox
                    let apps = [nil, ["a"], ["b"], ["a", "b"]][number / 5 % 4]
                    let moment = number % 7 == 0 ? later : now
                    group.addTask {
                        let lines = try await lookups.lines(
                            of: account, in: environment, bundleIds: apps, at: moment)
                        let alone = EntitlementStore.command(
                            of: [account], in: environment, bundleIds: apps, from: moment)
                        let rows = try await state.connection.pipeline([alone])[0]
                        #expect(try lines == EntitlementStore.lines(rows), "\(number)")
                    }
                }
                try await group.waitForAll()
            }
            for connection in connections { await connection.close() }
        }
    }

    @Test func `Entitlements of many accounts come in the order of the question`() async throws {
        try await SampleState.with { api, state in
            try await state.subscribed()
            let key = try await api.key()
            let other = "0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0"
            let answer = try await api.send(
                "POST", "/v1/entitlements/query", key: key,
                json: #"{"appAccountTokens":["\#(other)","\#(SampleState.account)"]}"#)
            let data = try #require(answer.json?["data"]?.elements)
            #expect(data.map { $0["appAccountToken"]?.string } == [other, SampleState.account])
            #expect(data.map { $0["entitlements"]?.elements.count } == [0, 1])
            let names = [SampleState.account, SampleState.account.uppercased(), other].map { "\"\($0)\"" }
            let repeated = try await api.send(
                "POST", "/v1/entitlements/query", key: key,
                json: #"{"appAccountTokens":[\#(names.joined(separator: ","))]}"#)
            #expect(repeated.json?["data"]?.elements.map { $0["entitlements"]?.elements.count } == [1, 0])
            let many = (0..<501).map { _ in "\"\(other)\"" }.joined(separator: ",")
            let rejected = try await api.send(
                "POST", "/v1/entitlements/query", key: key, json: #"{"appAccountTokens":[\#(many)]}"#)
            #expect(rejected.status == 400 && rejected.problem == "invalid-request")
            #expect(rejected.json?["errors"]?.elements.first?["pointer"]?.string == "/appAccountTokens")
        }
    }

    @Test func `Query about many accounts counts as one request for every ten`() async throws {
        try await RunningAPI.with(quota: 60) { api in
            let key = try await api.key()
            let first = try await api.send("POST", "/v1/entitlements/query", key: key, json: Self.accounts(500))
            #expect(first.status == 200 && first.json?["data"]?.elements.count == 500)
            #expect(first.headers["ratelimit"]?.contains("r=10") == true)
            let small = try await api.send("POST", "/v1/entitlements/query", key: key, json: Self.accounts(10))
            #expect(small.headers["ratelimit"]?.contains("r=9") == true)
            // What is missing is made up for before the next.
            #expect(
                try await api.send("POST", "/v1/entitlements/query", key: key, json: Self.accounts(500)).status == 200)
            let refused = try await api.get(path, key: key)
            #expect(refused.problem == "too-many-requests" && refused.headers["retry-after"] == "42")
        }
    }

    @Test func `Queries of one key leave connections for other keys`() async throws {
        try await RunningAPI.with { api in
            let (key, other) = (try await api.key(), try await api.key(bundleIds: [SampleState.app]))
            let id = try #require(try await api.id(of: key))
            let (holder, observer) = (TestDatabase.connection(api.database), TestDatabase.connection(api.database))
            try await holder.run(unsafeScript: "begin; lock table manual_grant in access exclusive mode")
            let answered = Answered()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        _ = try await api.send("POST", "/v1/entitlements/query", key: key, json: Self.accounts(500))
                        answered.count.withLock { $0 += 1 }
                    }
                }
                let end = ContinuousClock.now + .hangLimit
                while api.budgets.held(id, .request) < 4, ContinuousClock.now < end { await Task.yield() }
                _ = try await TestDatabase.blockedBackends(asking: observer)
                #expect(try await api.send("PUT", "/v1/customers/user-1", key: other, json: "{}").status == 201)
                let early = answered.count.withLock { $0 }
                #expect(early == 0)
                try await holder.run(unsafeScript: "rollback")
                try await group.waitForAll()
            }
            await holder.close()
            await observer.close()
        }
    }

    private final class Answered: Sendable {
        let count = Mutex(0)
    }

    private static func accounts(_ count: Int) -> String {
        let tokens = (0..<count).map { _ in "\"\(UUID().uuidString.lowercased())\"" }
        return #"{"appAccountTokens":[\#(tokens.joined(separator: ","))]}"#
    }
}

extension String {
    /// Any spelling of a UUID is the same account.
    fileprivate var uppercasedAccount: String {
        replacing(SampleState.account, with: SampleState.account.uppercased())
    }
}
