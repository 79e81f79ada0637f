import AppStore
import Contracts
import Foundation
import Postgres
import Storage
import StrictJSON
import Subscriptions
import TestSupport
import Testing

@testable import API
@testable import AppStoreSamples

/// The purchase of the app itself, uploaded by several accounts.
struct AppTransactionTests {
    @Test(arguments: [nil, "700000000000000001"])
    func `A fresh copy counts from its own upload, not from that of an old copy before`(identity: String?) async throws
    {
        try await UploadFixture.with { fixture in
            let (thief, buyer) = (UUID(), UUID())
            let year = UploadFixture.now.addingTimeInterval(-86_400 * 300)
            try await Self.upload(identity, signed: year, of: thief, fixture)
            #expect(try await Self.entitled(fixture) == [thief])
            try await Self.upload(identity, signed: UploadFixture.now, of: buyer, fixture)
            #expect(try await Self.entitled(fixture) == [buyer])
            try await Self.upload(identity, signed: UploadFixture.now, of: thief, fixture)
            #expect(try await Self.entitled(fixture) == [buyer])
        }
    }

    @Test func `Customer shows when the app was first bought, and a pre-order`() async throws {
        try await UploadFixture.with { fixture in
            let key = try await fixture.api.key(environment: .production, bundleIds: [ForgeryMaterial.bundleId])
            let path = "/v1/customers/4711"
            let made = try await fixture.api.send("PUT", path, key: key, json: "{}")
            let account = try #require(made.json?["appAccountToken"]?.string.flatMap { UUID(uuidString: $0) })
            let before = try await fixture.api.get(path, key: key)
            #expect(before.json?["appPurchases"]?.elements.isEmpty == true)
            let preorder = Date(timeIntervalSince1970: 1_375_000_000)
            try await Self.upload(
                "700000000000000001", signed: UploadFixture.now, of: account, preordered: preorder, fixture)
            let purchase = try await fixture.api.get(path, key: key).json?["appPurchases"]?.elements.first
            #expect(purchase?["originalApplicationVersion"]?.string == "1.0")
            #expect(purchase?["originalPurchaseDate"]?.int64 == 1_375_340_400_000)
            #expect(purchase?["preorderDate"]?.int64 == 1_375_000_000_000 && purchase?["isEntitled"]?.bool == true)
        }
    }

    @Test(arguments: [nil, ""] as [String?])
    func `In the sandbox an app transaction without Apple's id serves every account that has one`(
        identity: String?
    ) async throws {
        try await UploadFixture.with { fixture in
            let key = try await fixture.api.key(environment: .sandbox)
            let accounts = [UUID(), UUID(), UUID()]
            for account in accounts + accounts {
                try await Self.upload(
                    identity, signed: UploadFixture.now, of: account, in: .sandbox, by: key, fixture)
            }
            #expect(try await Self.entitled(fixture) == Set(accounts))
            // Apple's id is one customer's, in the sandbox, too.
            for account in accounts {
                try await Self.upload(
                    "700000000000000001", signed: UploadFixture.now, of: account, in: .sandbox, by: key, fixture)
            }
            #expect(try await Self.entitled(fixture, by: "700000000000000001") == [accounts[0]])
        }
    }

    @Test func `In Production an app transaction without Apple's id serves one account`() async throws {
        try await UploadFixture.with { fixture in
            let accounts = [UUID(), UUID()]
            for account in accounts {
                try await Self.upload(nil, signed: UploadFixture.now, of: account, fixture)
            }
            #expect(try await Self.entitled(fixture) == [accounts[0]])
        }
    }

    @Test func `App transactions with and without Apple's id are one customer's where one account has sent both (O6)`()
        async throws
    {
        try await UploadFixture.with { fixture async throws in
            let (id, otherId) = ("700000000000000001", "700000000000000002")
            let (first, second, third, other) = (UUID(), UUID(), UUID(), UUID())
            func upload(_ identity: String?, of account: UUID) async throws -> Set<UUID> {
                try await Self.upload(identity, signed: UploadFixture.now, of: account, fixture)
                return try await Self.entitled(fixture)
            }
            // Version and second of the purchase are no customer's alone.
            #expect(try await upload(nil, of: first) == [first])
            #expect(try await upload(id, of: second) == [first, second])
            // The first account's device was updated: it is the first for both.
            #expect(try await upload(id, of: first) == [first])
            #expect(try await upload(nil, of: third) == [first])
            // Another customer who bought in the same second: whose the one without an id is, is not known any more.
            #expect(try await upload(otherId, of: other) == [first, other])
            #expect(try await upload(nil, of: other) == [first, second, other])
            #expect(try await Self.entitled(fixture, by: id) == [second])
        }
    }

    @Test func `An app transaction serves as many accounts as the policy lets, and says to others what to do (O6)`()
        async throws
    {
        try await UploadFixture.with { fixture in
            try await fixture.setPolicy(.allow, mostAccounts: 2)
            let accounts = (0..<4).map { _ in UUID() }
            var withheld: [String?] = []
            for account in accounts {
                let answer = try await Self.upload(
                    "700000000000000001", signed: UploadFixture.now, of: account, fixture)
                withheld.append(answer.json?["app"]?["withheld"]?.string)
                let step = answer.json?["app"]?["nextStep"]?.string
                #expect((step == nil) == (withheld.last == .some(nil)))
            }
            #expect(withheld == [nil, nil, "tooManyAccounts", "tooManyAccounts"])
            #expect(try await Self.entitled(fixture) == Set(accounts.prefix(2)))
        }
    }

    @Test func `An old copy of what the account has claimed by a fresh one is not withheld`() async throws {
        try await UploadFixture.with { fixture async throws in
            let (buyer, second, thief) = (UUID(), UUID(), UUID())
            let year = UploadFixture.now.addingTimeInterval(-86_400 * 300)
            func withheld(_ account: UUID, signed date: Date) async throws -> String? {
                let answer = try await Self.upload("700000000000000001", signed: date, of: account, fixture)
                return answer.json?["app"]?["withheld"]?.string
            }
            #expect(try await withheld(buyer, signed: UploadFixture.now) == nil)
            #expect(try await withheld(second, signed: UploadFixture.now) == "otherAccount")
            #expect(try await withheld(buyer, signed: year) == nil)
            #expect(try await withheld(thief, signed: year) == "oldCopy")
            #expect(try await Self.entitled(fixture) == [buyer])
        }
    }

    @Test func `Of 20 restores of an app transaction at once by as many accounts three move it (O4, O6)`() async throws
    {
        try await UploadFixture.with { fixture async throws in
            try await fixture.setPolicy(.lastRestoreWins, mostAccounts: 100)
            let first = UUID()
            try await Self.upload("700000000000000001", signed: UploadFixture.now, of: first, fixture)
            let text = try Self.signed("700000000000000001", on: UploadFixture.now, fixture)
            let withheld = try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await fixture.post("/v1/restores") { json in
                            json.member("appAccountToken", UUID().uuidString)
                            json.member("signedAppTransaction", text)
                        }.json?["app"]?["withheld"]?.string
                    }
                }
                return try await group.reduce(into: [String?]()) { $0.append($1) }
            }
            #expect(withheld.count { $0 == nil } == PurchaseMove.limit)
            #expect(withheld.count { $0 == "tooManyTransfers" } == 20 - PurchaseMove.limit)
            let entitled = try await Self.entitled(fixture)
            #expect(entitled.count == 1 && !entitled.contains(first))
        }
    }

    /// The second account uploads the app transaction, restores it, and so do more accounts than may within 30 days.
    @Test(
        arguments: [
            (SharingPolicy.firstWins, "otherAccount", "otherAccount", "otherAccount"),
            (.refuse, "refused", "refused", "refused"), (.allow, nil, nil, nil),
            (.lastRestoreWins, "otherAccount", nil, "tooManyTransfers"),
            (.lastRestoreWinsIfLapsed, "otherAccount", "otherAccount", "otherAccount"),
        ] as [(SharingPolicy, String?, String?, String?)])
    func `An app transaction that another account has says so, with what to do (O3)`(
        policy: SharingPolicy, uploaded: String?, restored: String?, last: String?
    ) async throws {
        try await UploadFixture.with { fixture async throws in
            try await fixture.setPolicy(policy)
            func withheld(_ account: UUID, isRestore: Bool = true) async throws -> String? {
                func upload(isDryRun: Bool) async throws -> JSONValue? {
                    try await Self.upload(
                        "700000000000000001", signed: UploadFixture.now, of: account,
                        to: isRestore ? "/v1/restores" : "/v1/transactions", isDryRun: isDryRun, fixture
                    ).json?["app"]
                }
                // Only a restore has a dry run.
                let tried = isRestore ? try await upload(isDryRun: true) : nil
                let app = try await upload(isDryRun: false)
                let (reason, step) = (app?["withheld"]?.string, app?["nextStep"]?.string)
                #expect((reason == nil) == (step == nil))
                #expect(!isRestore || tried?["withheld"]?.string == reason && tried?["nextStep"]?.string == step)
                #expect(try await Self.entitled(fixture).contains(account) == (reason == nil))
                return reason
            }
            let (first, second) = (UUID(), UUID())
            #expect(try await withheld(first, isRestore: false) == nil)
            #expect(try await withheld(second, isRestore: false) == uploaded)
            #expect(try await withheld(second) == restored)
            for _ in 1..<PurchaseMove.limit { #expect(try await withheld(UUID()) == restored) }
            #expect(try await withheld(UUID()) == last)
        }
    }

    /// A second after what was before.
    @discardableResult
    private static func upload(
        _ identity: String?, signed date: Date, of account: UUID, in environment: AppStoreEnvironment = .production,
        by key: String? = nil, preordered preorder: Date? = nil, to path: String = "/v1/transactions",
        isDryRun: Bool = false, _ fixture: UploadFixture
    ) async throws -> RunningAPI.Answer {
        let text = try signed(identity, on: date, in: environment, preordered: preorder, fixture)
        try await fixture.api.pass()
        let answer = try await fixture.post(path, key: key) { json in
            json.member("appAccountToken", account.uuidString)
            json.member("signedAppTransaction", text)
            if isDryRun { json.member("dryRun", true) }
        }
        #expect(answer.accepted == 1)
        return answer
    }

    private static func signed(
        _ identity: String?, on date: Date, in environment: AppStoreEnvironment = .production,
        preordered preorder: Date? = nil, _ fixture: UploadFixture
    ) throws -> String {
        var app = fixture.material.appTransaction()
        app.preorderDate = preorder
        app.receiptType = environment
        app.appTransactionId = identity
        app.originalApplicationVersion = "1.0"
        app.originalPurchaseDate = Date(timeIntervalSince1970: 1_375_340_400)
        app.receiptCreationDate = date
        return String(decoding: try fixture.material.signed(app), as: UTF8.self)
    }

    /// - Parameter identity: nil means any.
    private static func entitled(_ fixture: UploadFixture, by identity: String? = nil) async throws -> Set<UUID> {
        let connection = TestDatabase.connection(fixture.api.database)
        let rows = try await connection.execute(
            unsafeSQL: """
                select app_account_token
                from account_app
                where is_entitled and ($1::text is null or identity = $1::text)
                """, identity)
        await connection.close()
        return try Set(rows.map { row in try row.value(at: 0, as: UUID.self) })
    }
}
