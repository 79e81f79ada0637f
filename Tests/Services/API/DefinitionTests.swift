import AppStore
import Contracts
import Foundation
import Storage
import StrictJSON
import TestSupport
import Testing

@testable import API
@testable import AppStoreSamples

/// Entitlements by the names that an app gives them.
struct DefinitionTests {
    private let path = "/v1/entitlement-definitions/pro"
    private let entitlements = "/v1/accounts/\(SampleState.account)/entitlements"

    private static func names(_ answer: RunningAPI.Answer) -> [String] {
        (answer.json?["entitlements"]?.elements ?? []).compactMap { $0["name"]?.string }
    }

    @Test func `Entitlement has the names of the definitions that hold its product, else the product's`()
        async throws
    {
        try await SampleState.with { api, state in
            try await state.subscribed()
            let key = try await api.key(bundleIds: [SampleState.app])
            let before = try await api.get(entitlements, key: key)
            #expect(Self.names(before) == ["pro.monthly"])
            let put = try await api.send(
                "PUT", path, key: key, json: #"{"productIds":["pro.yearly","pro.monthly"]}"#)
            #expect(put.status == 200 && put.json?["version"]?.int64 == 1)
            _ = try await api.send(
                "PUT", "/v1/entitlement-definitions/export", key: key, json: #"{"productIds":["pro.monthly"]}"#)
            let after = try await api.get(entitlements, key: key)
            #expect(Self.names(after) == ["export", "pro"])
            #expect(after.headers["etag"] != before.headers["etag"])
            let (old, new) = (before.json?["version"]?.int64, after.json?["version"]?.int64)
            #expect(try #require(new) > #require(old))
            // Another environment has a definition of its own.
            let live = try await api.key(environment: .production, bundleIds: [SampleState.app])
            #expect(try await api.get(path, key: live).problem == "not-found")
        }
    }

    @Test func `Definition keeps its versions, and the same again is none`() async throws {
        try await RunningAPI.with { api in
            let key = try await api.key(bundleIds: [SampleState.app])
            for products in [#"["a","b"]"#, #"["b","a"]"#, #"["a"]"#, "[]"] {
                _ = try await api.send("PUT", path, key: key, json: #"{"productIds":\#(products)}"#)
            }
            let answer = try await api.get(path, key: key)
            #expect(answer.json?["version"]?.int64 == 3 && answer.json?["productIds"]?.elements.isEmpty == true)
            let versions = answer.json?["versions"]?.elements ?? []
            #expect(versions.compactMap { $0["version"]?.int64 } == [3, 2, 1])
            let list = try await api.get("/v1/entitlement-definitions", key: key)
            #expect(list.json?["data"]?.elements.count == 1)
        }
    }

    /// Stores so many more of the one definition that there is, which differ in one column.
    private static func copy(_ numbers: ClosedRange<Int>, _ column: String, in api: RunningAPI) async throws {
        let connection = TestDatabase.connection(api.database)
        _ = try await connection.execute(
            unsafeSQL: """
                insert into entitlement_definition
                select other.*
                from generate_series(\(numbers.lowerBound), \(numbers.upperBound)) as number
                cross join lateral jsonb_populate_record(
                    (select held from entitlement_definition held limit 1), jsonb_build_object(\(column))) as other
                """)
        await connection.close()
    }

    @Test func `Definition that was changed often is answered with its newest versions`() async throws {
        try await RunningAPI.with { api in
            let key = try await api.key(bundleIds: [SampleState.app])
            _ = try await api.send("PUT", path, key: key, json: #"{"productIds":["a"]}"#)
            try await Self.copy(2...150, "'version', number", in: api)
            let put = try await api.send("PUT", path, key: key, json: #"{"productIds":["b"]}"#)
            #expect(put.status == 200 && put.json?["version"]?.int64 == 151)
            let answer = try await api.get(path, key: key)
            #expect(answer.json?["version"]?.int64 == 151)
            let versions = (answer.json?["versions"]?.elements ?? []).compactMap { $0["version"]?.int64 }
            #expect(versions == (52...151).reversed())
        }
    }

    @Test func `An app cannot have more definitions than every instance can hold`() async throws {
        try await RunningAPI.with { api in
            let key = try await api.key(bundleIds: [SampleState.app])
            _ = try await api.send("PUT", path, key: key, json: #"{"productIds":["a"]}"#)
            try await Self.copy(1...999, "'name', 'other' || number", in: api)
            let more = "/v1/entitlement-definitions/more"
            let refused = try await api.send("PUT", more, key: key, json: #"{"productIds":["a"]}"#)
            #expect(refused.status == 409 && refused.problem == "conflict")
            #expect(try await api.get(more, key: key).problem == "not-found")
            #expect(try await api.send("PUT", path, key: key, json: #"{"productIds":["b"]}"#).status == 200)
        }
    }

    @Test func `Duration ends the access of a non-renewing product, and the audit log names the key`() async throws {
        try await UploadFixture.with { fixture in
            let account = UUID()
            let season = try fixture.transaction(of: account) {
                $0.type = .nonRenewingSubscription
                $0.productId = "season.pass"
                $0.expiresDate = nil
            }
            let key = try await fixture.api.key(environment: .production, bundleIds: [ForgeryMaterial.bundleId])
            func put(_ durations: String) async throws -> RunningAPI.Answer {
                let json = #"{"productIds":["season.pass"],"durations":\#(durations)}"#
                return try await fixture.api.send("PUT", path, key: key, json: json)
            }
            let set = try await put(#"[{"productId":"season.pass","duration":"P100Y"}]"#)
            #expect(set.status == 200)
            #expect(set.json?["durations"]?.elements.map { $0["duration"]?.string } == ["P100Y"])
            let until = try await fixture.upload([season], of: account).json?["entitlements"]?.elements.first?["until"]
            #expect(until?.int64 != nil)
            // A product that is left out keeps its duration; the same again changes nothing.
            #expect(try await put("[]").json?["durations"]?.elements.count == 1)
            #expect(try await put(#"[{"productId":"season.pass","duration":"P100Y"}]"#).status == 200)
            let removed = try await put(#"[{"productId":"season.pass","duration":null}]"#)
            #expect(removed.json?["durations"]?.elements.isEmpty == true)
            #expect(removed.json?["version"]?.int64 == 1)
            let connection = TestDatabase.connection(fixture.api.database)
            let actions = try await OperatorActionStore(connection).newest(10)
            await connection.close()
            let (defined, changed) = (
                actions.filter { $0.operation == "entitlements define" },
                actions.filter { $0.operation != "entitlements define" }
            )
            #expect(changed.map(\.operation) == ["products durations none", "products durations P100Y"])
            #expect(changed.allSatisfy { $0.subject == "\(ForgeryMaterial.bundleId) season.pass" })
            // Of each version of the definition one entry.
            #expect(defined.count == 1 && defined.allSatisfy { $0.subject.hasSuffix(" version 1") })
            #expect(actions.allSatisfy { $0.actor.hasPrefix("API key ") })
        }
    }

    @Test(arguments: [
        (#"{"productId":"pass","duration":"P1X"}"#, ["/durations/0/duration"]),
        (#"{"productId":"pass","duration":"P0D"}"#, ["/durations/0/duration"]),
        (#"{"productId":"pass","duration":"P101Y"}"#, ["/durations/0/duration"]),
        (#"{"productId":"other","duration":"P1M"}"#, ["/durations/0/productId"]),
        (
            #"{"productId":"pass","duration":"P1M"},{"productId":"pass","duration":"P1Y"}"#,
            ["/durations/1/productId"]
        ),
    ])
    func `Durations that cannot be set change nothing`(durations: String, pointers: [String]) async throws {
        try await RunningAPI.with { api in
            let key = try await api.key(environment: .production, bundleIds: [SampleState.app])
            let answer = try await api.send(
                "PUT", path, key: key, json: #"{"productIds":["pass"],"durations":[\#(durations)]}"#)
            #expect(answer.problem == "invalid-request")
            #expect(answer.json?["errors"]?.elements.compactMap { $0["pointer"]?.string } == pointers)
            #expect(try await api.get(path, key: key).problem == "not-found")
        }
    }

    @Test func `Test key sets no duration, which would hold in production`() async throws {
        try await RunningAPI.with { api in
            let key = try await api.key(bundleIds: [SampleState.app])
            let answer = try await api.send(
                "PUT", path, key: key,
                json: #"{"productIds":["pass"],"durations":[{"productId":"pass","duration":"P1M"}]}"#)
            #expect(answer.problem == "wrong-environment")
            #expect(try await api.get(path, key: key).problem == "not-found")
        }
    }

    @Test(arguments: [
        ("7.9.9", "8.0", true), ("8", "8.0", false), ("8.0.0", "8", false), ("9.2", "10.0", true), ("10", "9", false),
        ("", "1", true), ("1.0", "1.0.1", true), ("abc", "1", true),
    ])
    func `Versions of an app are compared number by number`(version: String, limit: String, isGiven: Bool) {
        let definition = EntitlementDefinition(
            environment: .production, bundleId: "b", name: "pro", productIds: [],
            originalApplicationVersionBefore: limit, createdAt: .now, createdBy: UUID())
        #expect(definition.isGiven(byVersion: version) == isGiven)
    }

    @Test func `Version that was paid for gives the entitlement, to one account of the Apple account`() async throws {
        try await UploadFixture.with { fixture in
            let key = try await fixture.api.key(environment: .production, bundleIds: [ForgeryMaterial.bundleId])
            _ = try await fixture.api.send(
                "PUT", path, key: key, json: #"{"productIds":["gold"],"originalApplicationVersionBefore":"8.0"}"#)
            func upload(_ version: String, _ id: String, of account: UUID, isDryRun: Bool = false) async throws
                -> RunningAPI.Answer
            {
                var app = fixture.material.appTransaction()
                app.originalApplicationVersion = version
                app.appTransactionId = id
                app.receiptCreationDate = UploadFixture.now
                let signed = try fixture.material.signed(app)
                return try await fixture.post(isDryRun ? "/v1/restores" : "/v1/transactions") { json in
                    json.member("appAccountToken", account.uuidString)
                    if isDryRun { json.member("dryRun", true) }
                    json.member("signedAppTransaction", String(decoding: signed, as: UTF8.self))
                }
            }
            let (first, second, third) = (UUID(), UUID(), UUID())
            let tried = try await upload("7.2", "70001", of: first, isDryRun: true)
            #expect(Self.names(try await fixture.entitlements(of: first)).isEmpty)
            let answer = try await upload("7.2", "70001", of: first)
            #expect(Self.names(answer) == ["pro"] && tried.access == answer.access, "a dry run shows the same")
            let given = try await fixture.entitlements(of: first)
            #expect(Self.names(given) == ["pro"] && given.access == answer.access)
            #expect(given.access.contains(#""reason":"originalApplicationVersion""#))
            #expect(Self.names(try await upload("7.2", "70001", of: second, isDryRun: true)).isEmpty)
            #expect(Self.names(try await upload("7.2", "70001", of: second)).isEmpty)
            #expect(Self.names(try await upload("8.0", "70002", of: third)).isEmpty)
            let connection = TestDatabase.connection(fixture.api.database)
            try await SharingStore(connection).choose(
                second.uuidString, of: ForgeryMaterial.bundleId, in: .production, at: UploadFixture.now)
            await connection.close()
            try await fixture.api.pass()
            #expect(Self.names(try await fixture.entitlements(of: first)).isEmpty, "the other one was chosen")
            #expect(Self.names(try await fixture.entitlements(of: second)) == ["pro"])
        }
    }
}
