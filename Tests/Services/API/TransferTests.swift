import Contracts
import Foundation
import Postgres
import Storage
import StrictJSON
import Subscriptions
import Synchronization
import TestSupport
import Testing

@testable import API
@testable import AppStoreSamples

/// Purchases that restores move between accounts of an app (E6).
struct TransferTests {
    private static let owner = UUID()

    /// An app whose restores move purchases, and a purchase of one account.
    private static func with(
        _ body: (UploadFixture, TransferStore, [UInt8]) async throws -> Void
    ) async throws {
        try await UploadFixture.with { fixture in
            let connection = TestDatabase.connection(fixture.api.database)
            try await fixture.setPolicy(.lastRestoreWins)
            let signed = try fixture.transaction(of: owner)
            _ = try await fixture.upload([signed], of: owner)
            try await fixture.apply([fixture.received(signed)])
            try await body(fixture, TransferStore(connection), signed)
            await connection.close()
        }
    }

    private static func restore(
        _ signed: [UInt8], to account: UUID, _ fixture: UploadFixture
    ) async throws -> RunningAPI.Answer {
        try await fixture.api.pass()
        return try await fixture.upload([signed], to: "/v1/restores", of: account)
    }

    @Test func `A restore that moves a purchase is an event that names both accounts`() async throws {
        try await Self.with { fixture, transfers, signed in
            let second = UUID()
            #expect(try await Self.restore(signed, to: second, fixture).status == 200)
            // Again: nothing moves.
            #expect(try await Self.restore(signed, to: second, fixture).status == 200)
            #expect(try await transfers.announce(at: fixture.api.clock.now) == 1)
            #expect(try await transfers.announce(at: fixture.api.clock.now) == 0)
            try await fixture.api.eventsAreDecided()
            let timeline = try await fixture.api.get(
                "/v1/subscriptions/2000000000000001/timeline", key: fixture.key)
            let events = try await fixture.api.get("/v1/events?limit=100", key: fixture.key)
            for answer in [timeline, events] {
                let data = try #require(answer.json?["data"]?.elements)
                let moves = data.compactMap { $0["data"] }.filter {
                    $0["event"]?.string == TimelineRow.purchaseTransferred
                }
                let move = try #require(moves.first)
                #expect(moves.count == 1)
                let change = try #require(move["changes"]?.elements.first)
                #expect(change["fact"]?.string == "account")
                #expect(change["from"]?.string == Self.owner.uuidString.lowercased())
                #expect(change["to"]?.string == second.uuidString.lowercased())
                #expect(move["state"]?["hasAccess"]?.bool == true)
            }
        }
    }

    @Test func `A purchase that has moved too often in 30 days stays, and may move again later`() async throws {
        try await Self.with { fixture, transfers, signed in
            for _ in 0..<PurchaseMove.limit {
                #expect(try await Self.restore(signed, to: UUID(), fixture).access.contains("monthly"))
            }
            let late = UUID()
            let rejected = try await Self.restore(signed, to: late, fixture)
            #expect(rejected.status == 409 && rejected.problem == "too-many-transfers")
            #expect(rejected.json?["detail"]?.string?.contains("restore it once more") == true)
            #expect(try await fixture.entitlements(of: late).access == "[]")
            let told = try await transfers.rejected(since: fixture.api.clock.now.addingTimeInterval(-60))
            #expect(told.map(\.bundleId) == [ForgeryMaterial.bundleId] && told.map(\.purchases) == [1])
            // The pipeline tells of those that moved, and of no other.
            #expect(try await transfers.announce(at: fixture.api.clock.now) == PurchaseMove.limit)
            let connection = TestDatabase.connection(fixture.api.database)
            try await connection.run(
                unsafeScript: "update purchase_transfer set moved_at = moved_at - interval '31 days'")
            await connection.close()
            #expect(try await Self.restore(signed, to: late, fixture).access.contains("monthly"))
        }
    }

    @Test func `A migration does not begin the count of moves again`() async throws {
        try await Self.with { fixture, transfers, signed in
            for _ in 0..<PurchaseMove.limit {
                #expect(try await Self.restore(signed, to: UUID(), fixture).access.contains("monthly"))
            }
            let migrated = try fixture.transaction("2000000000000009", of: Self.owner) {
                $0.previousOriginalTransactionId = "2000000000000001"
            }
            try await fixture.apply([fixture.received(migrated)])
            #expect(try await Self.restore(migrated, to: UUID(), fixture).problem == "too-many-transfers")
            #expect(try await transfers.rejected(since: .distantPast).map(\.purchases) == [1])
        }
    }

    @Test func `A purchase that has moved too often is withheld, and the others of the restore are not held up`()
        async throws
    {
        try await Self.with { fixture, transfers, signed in
            for _ in 0..<PurchaseMove.limit {
                #expect(try await Self.restore(signed, to: UUID(), fixture).status == 200)
            }
            try await fixture.api.pass()
            let late = UUID()
            let other = try fixture.transaction("2000000000000002")
            let answer = try await fixture.upload([signed, other], to: "/v1/restores", of: late)
            #expect(answer.status == 200 && answer.accepted == 2 && answer.access.contains("monthly"))
            let withheld = answer.json?["withheld"]?.elements ?? []
            #expect(withheld.map { $0["originalTransactionId"]?.string } == ["2000000000000001"])
            #expect(withheld.map { $0["reason"]?.string } == ["tooManyTransfers"])
            let nextStep = withheld.first?["nextStep"]?.string
            #expect(nextStep?.contains("customers choose; then restore it once more") == true)
            #expect(try await transfers.rejected(since: .distantPast).map(\.purchases) == [1])
        }
    }

    @Test func `A purchase that has moved too often goes to the account that an operator chose, by its next restore`()
        async throws
    {
        try await Self.with { fixture, transfers, signed in
            for _ in 0..<PurchaseMove.limit {
                #expect(try await Self.restore(signed, to: UUID(), fixture).status == 200)
            }
            let late = UUID()
            #expect(try await Self.restore(signed, to: late, fixture).problem == "too-many-transfers")
            let connection = TestDatabase.connection(fixture.api.database)
            try await SharingStore(connection).choose(
                late.uuidString, of: ForgeryMaterial.bundleId, in: .production, at: fixture.api.clock.now)
            await connection.close()
            let chosen = try await Self.restore(signed, to: late, fixture)
            #expect(chosen.status == 200 && chosen.access.contains("monthly"))
            #expect(try await fixture.entitlements(of: late).access.contains("monthly"))
            #expect(try await fixture.entitlements(of: Self.owner).access == "[]")
            // The choice gave it, and no move.
            #expect(try await transfers.announce(at: fixture.api.clock.now) == PurchaseMove.limit)
            // It opens nothing to others.
            #expect(try await Self.restore(signed, to: UUID(), fixture).access == "[]")
        }
    }

    @Test
    func `A restore that moves nothing is no transfer, and a dry run of one too many is rejected and not counted`()
        async throws
    {
        try await Self.with { fixture, transfers, signed in
            #expect(try await Self.restore(signed, to: Self.owner, fixture).status == 200)
            #expect(try await transfers.announce(at: fixture.api.clock.now) == 0)
            for _ in 0..<PurchaseMove.limit {
                #expect(try await Self.restore(signed, to: UUID(), fixture).status == 200)
            }
            // Of two restores in one millisecond the lesser token would have the purchase.
            try await fixture.api.pass()
            let tried = try await fixture.post("/v1/restores") { json in
                json.member("appAccountToken", UUID().uuidString)
                json.member("dryRun", true)
                json.strings("signedTransactions", of: [String(decoding: signed, as: UTF8.self)])
            }
            #expect(tried.problem == "too-many-transfers")
            #expect(try await transfers.rejected(since: .distantPast) == [])
        }
    }

    @Test func `Of 50 restores at once by as many accounts three move a purchase, and the others are refused (O4)`()
        async throws
    {
        try await Self.with { fixture, transfers, signed in
            let accounts = (0..<50).map { _ in UUID() }
            let answers = try await withThrowingTaskGroup(of: (UUID, RunningAPI.Answer).self) { group in
                for account in accounts {
                    group.addTask { (account, try await fixture.upload([signed], to: "/v1/restores", of: account)) }
                }
                return try await group.reduce(into: [UUID: RunningAPI.Answer]()) { $0[$1.0] = $1.1 }
            }
            #expect(answers.values.count { $0.status == 200 } == PurchaseMove.limit)
            #expect(answers.values.count { $0.problem == "too-many-transfers" } == 50 - PurchaseMove.limit)
            #expect(try await transfers.announce(at: fixture.api.clock.now) == PurchaseMove.limit)
            var holders: [UUID] = []
            for account in accounts + [Self.owner] {
                let read = try await fixture.entitlements(of: account)
                if read.access.contains("monthly") { holders.append(account) }
            }
            #expect(holders.count == 1 && holders != [Self.owner])
            #expect(holders.first.map { answers[$0]?.status == 200 } == true)
        }
    }

    @Test func `The account that Apple names takes its purchase back, as often as others take it (O4)`() async throws {
        try await Self.with { fixture, _, signed in
            for _ in 0..<PurchaseMove.limit {
                #expect(try await Self.restore(signed, to: UUID(), fixture).access.contains("monthly"))
                #expect(try await Self.restore(signed, to: Self.owner, fixture).access.contains("monthly"))
            }
            let late = UUID()
            #expect(try await Self.restore(signed, to: late, fixture).problem == "too-many-transfers")
            #expect(try await fixture.entitlements(of: Self.owner).access.contains("monthly"))
            // By an id alone, and by an old copy, too: Apple's word is the evidence.
            let connection = TestDatabase.connection(fixture.api.database)
            try await connection.run(
                unsafeScript: "update purchase_transfer set moved_at = moved_at - interval '31 days'")
            #expect(try await Self.restore(signed, to: late, fixture).access.contains("monthly"))
            try await fixture.setPolicy(.firstWins)
            await connection.close()
            let old = try fixture.transaction(of: Self.owner) {
                $0.signedDate = UploadFixture.now.addingTimeInterval(-300 * 86_400)
            }
            let answer = try await Self.restore(old, to: Self.owner, fixture)
            #expect(answer.claims == ["apple"] && answer.access.contains("monthly"))
            #expect(try await fixture.entitlements(of: late).access == "[]")
        }
    }

    @Test func `A restore whose answer was lost takes nothing back from the account that restored after it`()
        async throws
    {
        try await Self.with { fixture, transfers, signed in
            let (first, second) = (UUID(), UUID())
            func restore(_ name: String) async throws -> RunningAPI.Answer {
                try await fixture.api.pass()
                var json = JSONWriter()
                json.beginObject()
                json.member("bundleId", ForgeryMaterial.bundleId)
                json.member("appAccountToken", first.uuidString)
                json.strings("signedTransactions", of: [String(decoding: signed, as: UTF8.self)])
                json.endObject()
                return try await fixture.api.send(
                    "POST", "/v1/restores", key: fixture.key, headers: ["Idempotency-Key": name], body: json.bytes)
            }
            let moved = try await restore("a")
            #expect(moved.access.contains("monthly"))
            #expect(try await Self.restore(signed, to: second, fixture).access.contains("monthly"))
            try await fixture.api.run("delete from api_idempotency")
            let repeated = try await restore("a")
            #expect(repeated.status == 200 && repeated.access == "[]")
            #expect(repeated.json?["withheld"]?.elements.first?["reason"]?.string == "otherAccount")
            #expect(try await fixture.entitlements(of: second).access.contains("monthly"))
            #expect(try await transfers.announce(at: fixture.api.clock.now) == 2)
            // Another request is another restore.
            let again = try await restore("b")
            #expect(again.access.contains("monthly"))
        }
    }

    @Test func `Of 20 accounts that upload one purchase at once as many claim it as the policy lets (O6)`() async throws
    {
        try await UploadFixture.with { fixture in
            let connection = TestDatabase.connection(fixture.api.database)
            try await fixture.setPolicy(.allow, mostAccounts: 3)
            let signed = try fixture.transaction()
            try await fixture.apply([fixture.received(signed)])
            let accounts = (0..<20).map { _ in UUID() }
            let answers = try await withThrowingTaskGroup(of: RunningAPI.Answer.self) { group in
                for account in accounts {
                    group.addTask { try await fixture.upload([signed], of: account) }
                }
                return try await group.reduce(into: [RunningAPI.Answer]()) { $0.append($1) }
            }
            #expect(answers.allSatisfy { $0.status == 200 && $0.claims == ["signed"] })
            #expect(answers.count { $0.access.contains("monthly") } == 3)
            let refused = answers.filter { $0.access == "[]" }.compactMap { $0.json?["withheld"]?.elements.first }
            #expect(refused.count == 17 && refused.allSatisfy { $0["reason"]?.string == "tooManyAccounts" })
            #expect(refused.first?["nextStep"]?.string?.contains("deviceVerificationId") == true)
            func claims() async throws -> Int {
                try await CustomerStore(connection).claims(of: ForgeryMaterial.bundleId, in: .production).count
            }
            #expect(try await claims() == 3)
            // Stronger evidence is not kept out, and neither is the account that Apple names.
            try await fixture.api.pass()
            let assigned = UUID()
            let answer = try await fixture.post { json in
                json.member("appAccountToken", assigned.uuidString)
                json.beginObject("assign")
                json.member("reason", "a customer of ours")
                json.endObject()
                json.strings("signedTransactions", of: [String(decoding: signed, as: UTF8.self)])
            }
            #expect(answer.access.contains("monthly"))
            #expect(try await claims() == 4)
            let named = try fixture.transaction(of: Self.owner) {
                $0.signedDate = UploadFixture.now.addingTimeInterval(1)
            }
            #expect(try await fixture.upload([named], of: Self.owner).access.contains("monthly"))
            await connection.close()
        }
    }

    @Test func `A restore that was refused moves nothing when the policy changes (O4)`() async throws {
        try await Self.with { fixture, _, signed in
            let connection = TestDatabase.connection(fixture.api.database)
            let sharing = SharingStore(connection)
            func set(_ policy: SharingPolicy, needsDevice: Bool = false) async throws {
                try await sharing.setPolicy(
                    policy, needsDevice: needsDevice, of: ForgeryMaterial.bundleId, in: .production,
                    at: UploadFixture.now)
            }
            let second = UUID()
            try await set(.firstWins)
            #expect(try await Self.restore(signed, to: second, fixture).access == "[]")
            try await set(.lastRestoreWins, needsDevice: true)
            #expect(try await Self.restore(signed, to: second, fixture).access == "[]")
            try await set(.lastRestoreWins)
            #expect(try await fixture.entitlements(of: second).access == "[]")
            #expect(try await fixture.entitlements(of: Self.owner).access.contains("monthly"))
            let rows = try await connection.execute(
                unsafeSQL: "select outcome, policy, evidence::text as evidence from purchase_transfer order by id")
            let found: [[String]] = try rows.map {
                [try $0.value("outcome"), try $0.value("policy"), try $0.value("evidence")]
            }
            #expect(found == [["policy", "firstWins", "signed"], ["evidence", "lastRestoreWins", "signed"]])
            // What was accepted stays.
            #expect(try await Self.restore(signed, to: second, fixture).access.contains("monthly"))
            try await set(.firstWins)
            #expect(try await fixture.entitlements(of: second).access.contains("monthly"))
            await connection.close()
        }
    }

    /// How a thief comes to a purchase.
    enum Attempt: String, CaseIterable {
        case fresh, old, assignedId, id
    }

    @Test(arguments: SharingPolicy.allCases, Attempt.allCases)
    func `Who has a purchase afterwards is what the table says, by the API, by SQL and by the command (O1, O4)`(
        policy: SharingPolicy, attempt: Attempt
    ) async throws {
        try await AppleFixture.with { store, clients in
            try await UploadFixture.with(apple: clients) { fixture in
                let connection = TestDatabase.connection(fixture.api.database)
                try await fixture.setPolicy(policy)
                for (index, isOwned) in [true, false].enumerated() {
                    for path in ["/v1/transactions", "/v1/restores"] {
                        let bought = try store.subscribe(
                            seed: UInt64(1000 * index + 100 * path.count), isOwned: isOwned)
                        let (first, thief) = (UUID(), UUID())
                        let id = bought.originalTransactionId
                        func signed(_ age: Double) throws -> [UInt8] {
                            try fixture.transaction(id, of: isOwned ? first : nil) {
                                $0.signedDate = UploadFixture.now.addingTimeInterval(-age)
                            }
                        }
                        let original = try signed(1)
                        let fresh = String(decoding: try signed(0), as: UTF8.self)
                        let old = String(decoding: try signed(300 * 86_400), as: UTF8.self)
                        _ = try await fixture.upload([original], of: first)
                        try await fixture.apply([fixture.received(original)])
                        try await fixture.api.pass()
                        let answer = try await fixture.post(path) { json in
                            json.member("appAccountToken", thief.uuidString)
                            if attempt == .assignedId {
                                json.beginObject("assign")
                                json.member("reason", "a customer of ours")
                                json.endObject()
                            }
                            switch attempt {
                            case .fresh, .old:
                                json.strings("signedTransactions", of: [attempt == .old ? old : fresh])
                            case .assignedId, .id:
                                json.transaction(bought.transactionId)
                            }
                        }
                        #expect(answer.status == 200)
                        let isRestore = path == "/v1/restores"
                        let hasEvidence = attempt == .fresh || attempt == .assignedId
                        let moves = isRestore && hasEvidence && policy == .lastRestoreWins
                        // Of two that claim what Apple names no account for, an operator's word comes first.
                        let displaces =
                            !isOwned && attempt == .assignedId && policy != .refuse && policy != .allow
                        let shares = policy == .allow && hasEvidence && (!isOwned || isRestore)
                        let blocks = policy == .refuse && hasEvidence && !isOwned
                        let expected: Set<UUID> =
                            shares ? [first, thief] : blocks ? [] : moves || displaces ? [thief] : [first]
                        var byAPI: Set<UUID> = []
                        var bySQL: Set<UUID> = []
                        for account in [first, thief] {
                            if try await fixture.entitlements(of: account).access != "[]" { byAPI.insert(account) }
                            let access = try await AccessStore(connection).access(
                                ofAccount: account.uuidString, of: ForgeryMaterial.bundleId, in: .production,
                                at: UploadFixture.now.addingTimeInterval(1))
                            if access?.isEmpty == false { bySQL.insert(account) }
                        }
                        #expect(byAPI == expected, "\(policy) \(attempt) \(path) owned \(isOwned)")
                        #expect(bySQL == expected)
                        #expect((answer.access != "[]") == expected.contains(thief))
                    }
                }
                await connection.close()
            }
        }
    }

    /// The account of Apple's transaction after two accounts have restored it.
    private static func accountAtApple(whereApplied setsAccountTokens: Bool) async throws -> (
        last: UUID, named: String?
    ) {
        let accounts = [UUID(), UUID()]
        let named = Mutex<String?>(nil)
        try await AppleFixture.with { store, clients in
            let bought = try store.subscribe()
            try await UploadFixture.with(apple: clients, setsAccountTokens: setsAccountTokens) { fixture in
                try await fixture.setPolicy(.lastRestoreWins)
                for account in accounts {
                    try await fixture.api.pass()
                    let answer = try await fixture.post("/v1/restores") { json in
                        json.member("appAccountToken", account.uuidString)
                        json.beginObject("assign")
                        json.member("reason", "the customer's new account")
                        json.endObject()
                        json.transaction(bought.transactionId)
                    }
                    #expect(answer.status == 200 && answer.access.contains(bought.productId))
                }
                let client = try #require(clients[ForgeryMaterial.bundleId, .production])
                let newest = try await client.transactionInfo(bought.transactionId)
                named.withLock { $0 = newest.value?.appAccountToken }
            }
        }
        return (accounts[1], named.withLock { $0 })
    }

    @Test func `Apple names the account that a restore moved a purchase to, where that is configured (E1)`()
        async throws
    {
        let (last, told) = try await Self.accountAtApple(whereApplied: true)
        #expect(told == last.uuidString.lowercased())
        let (other, untold) = try await Self.accountAtApple(whereApplied: false)
        #expect(untold != other.uuidString.lowercased())
    }
}
