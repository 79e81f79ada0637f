import AppStore
import Foundation
import ServerAPI
import Signatures
import Storage
import StrictJSON
import TestSupport
import Testing

@testable import API
@testable import AppStoreSamples
@testable import SimulatedAppStore

@Suite struct OfferTests {
    static let account = UUID()

    /// With an In-App Purchase key for an app.
    static func withClients<Value>(
        for bundleId: String, isolation: isolated (any Actor)? = #isolation,
        _ body: (APIClients, P256PrivateKey) async throws -> Value
    ) async throws -> Value {
        let key = try SimulatedKey("KEY1")
        let apps = AppRegistry(apps: [AcceptedApp(bundleId: bundleId, appAppleId: ForgeryMaterial.appAppleId)])
        let directory = try TemporaryDirectory()
        let keys = try APIKeysFile(contentsOf: try SimulatedKey.write([(bundleId, key)], to: directory.url), apps: apps)
        directory.remove()
        let transport = APITransport()
        let clients = APIClients(
            apps: apps, keys: keys, verifier: SignedDataVerifier(trust: .apple, apps: apps), transport: transport,
            clock: APIClock(now: { UploadFixture.now }, random: { 0 }), baseURL: "http://127.0.0.1:1")
        let outcome: Result<Value, any Error>
        do {
            outcome = .success(try await body(clients, key.privateKey))
        } catch {
            outcome = .failure(error)
        }
        try await transport.shutdown()
        return try outcome.get()
    }

    static func with(
        needsOfferRule: Bool = true, _ body: (UploadFixture, P256PrivateKey) async throws -> Void
    ) async throws {
        try await withClients(for: ForgeryMaterial.bundleId) { clients, key in
            try await UploadFixture.with(apple: clients, needsOfferRule: needsOfferRule) { fixture in
                try await body(fixture, key)
            }
        }
    }

    /// Customers who have not paid get the offer spring of gold, once in 30 days.
    private static func setRule(_ fixture: UploadFixture) async throws {
        let rules = """
            {"rules": [{"productId": "gold", "offerIdentifier": "spring", "who": ["neverPaid"],
                        "atMost": {"count": 1, "days": 30}}]}
            """
        let connection = TestDatabase.connection(fixture.api.database)
        let audit = OperatorAction(
            actedAt: UploadFixture.now, actor: "ann", operation: "offers rules set", subject: "a", reason: nil)
        _ = try await OfferRuleStore(connection).add(
            rules, to: ForgeryMaterial.bundleId, in: .production, by: "ann", at: UploadFixture.now, audit: audit)
        await connection.close()
    }

    private static func ask(_ fixture: UploadFixture, _ account: UUID? = account) async throws -> RunningAPI.Answer {
        try await fixture.post("/v1/offers/promotional") { json in
            json.member("productId", "gold")
            json.member("offerIdentifier", "spring")
            if let account { json.member("appAccountToken", account.uuidString) }
        }
    }

    private static func claims(_ jws: String?, signedBy key: P256PrivateKey) throws -> JSONValue {
        let parts = try #require(CompactJWS(Array((jws ?? "").utf8)[...]))
        let signature = try #require(Base64.decode(parts.signature, .url))
        #expect(try key.publicKey().isValid(signature: signature, over: Array(parts.signed)))
        return try JSONDocument(#require(Base64.decode(parts.payload, .url))).root
    }

    @Test func `A promotional offer is signed in both shapes`() async throws {
        try await Self.with { fixture, key in
            try await Self.setRule(fixture)
            let answer = try await Self.ask(fixture)
            #expect(answer.status == 200 && answer.json?["allowed"]?.bool == true)
            #expect(answer.json?["because"]?.isNull == true)
            let claims = try Self.claims(answer.json?["jws"]?.string, signedBy: key)
            #expect(claims["aud"]?.string == "promotional-offer" && claims["offerIdentifier"]?.string == "spring")
            let fields = try #require(answer.json?["storeKit1"])
            #expect(fields["keyIdentifier"]?.string == "KEY1")
            #expect(fields["applicationUsername"]?.string == Self.account.uuidString.lowercased())
            #expect(fields["nonce"]?.string == claims["nonce"]?.string)
            #expect(fields["timestamp"]?.int64 == 1_765_000_000_000)
            #expect(fields["signature"]?.string?.isEmpty == false)
        }
    }

    @Test func `The simulated App Store sells with what is signed, once, to the customer alone`() async throws {
        try await Self.with { fixture, key in
            try await Self.setRule(fixture)
            let answer = try await Self.ask(fixture)
            let (jws, discount) = (try #require(answer.json?["jws"]), try #require(answer.json?["storeKit1"]))
            let check = OfferCheck(
                keys: KeyRing([
                    AcceptedKey(issuerId: SimulatedKey.issuerId, keyId: "KEY1", publicKey: try key.publicKey())
                ]))
            var gold = SimulatedAppStore.Product(
                kind: .autoRenewable, suffix: "gold", group: "metals", period: .month, price: 9990)
            gold.hasOwnId = true
            let app = SimulatedAppStore.App(
                bundleId: ForgeryMaterial.bundleId, appAppleId: ForgeryMaterial.appAppleId, environment: .production)
            let buyer = ManualPurchases.Buyer(app: app, appAccountToken: Self.account, catalogue: [gold])
            let now = UploadFixture.now
            let signed = try check.offer(jws, of: gold, for: buyer, now: now)
            #expect(try check.offer(discount, of: gold, for: buyer, now: now) == signed, "both have the same nonce")
            var purchases = ManualPurchases(seed: 1, now: now)
            let time = TimeScale(environment: .production)
            let bought = try purchases.buy(gold, for: buyer, with: signed, timeScale: time, at: now)
            #expect(bought.purchase?.offer?.identifier == "spring")
            var other = buyer
            other.appAccountToken = UUID()
            #expect(throws: SimulatorError.self) {
                try purchases.buy(gold, for: other, with: signed, timeScale: time, at: now.addingTimeInterval(1))
            }
            #expect(throws: SimulatorError.self) { try check.offer(discount, of: gold, for: other, now: now) }
            #expect(throws: SimulatorError.self) {
                try check.offer(jws, of: gold, for: buyer, now: now.addingTimeInterval(90_000))
            }
        }
    }

    @Test func `An offer is signed as its rule allows, once for a repeat, and a refusal is an answer`() async throws {
        try await Self.with { fixture, _ in
            func reason(_ answer: RunningAPI.Answer) -> String? {
                #expect(answer.status == 200 && answer.json?["jws"]?.isNull == true)
                #expect(answer.json?["storeKit1"]?.isNull == true && answer.json?["because"]?.string != nil)
                return answer.json?["reason"]?.string
            }
            #expect(reason(try await Self.ask(fixture)) == "noRule")
            try await Self.setRule(fixture)
            #expect(reason(try await Self.ask(fixture, nil)) == "noAccount")
            let first = try await Self.ask(fixture)
            fixture.api.clock.advance(by: 59)
            let again = try await Self.ask(fixture)
            for field in ["nonce", "timestamp"] {
                let (one, other) = (first.json?["storeKit1"]?[field], again.json?["storeKit1"]?[field])
                #expect(one?.rawBytes != nil && one?.rawBytes == other?.rawBytes, "\(field)")
            }
            fixture.api.clock.advance(by: 2)
            #expect(reason(try await Self.ask(fixture)) == "signedTooOften")
            #expect(try await Self.ask(fixture, UUID()).json?["allowed"]?.bool == true)
        }
    }

    @Test func `An account's offers are those that its rules allow now`() async throws {
        try await Self.with { fixture, _ in
            try await Self.setRule(fixture)
            func offers() async throws -> JSONValue? {
                try await fixture.api.get(
                    "/v1/accounts/\(Self.account.uuidString)/offers?bundleId=\(ForgeryMaterial.bundleId)",
                    key: fixture.key
                ).json
            }
            let before = try await offers()
            #expect(before?["data"]?.elements.map { $0["allowed"]?.bool } == [true])
            #expect(before?["data"]?.elements.first?["offerIdentifier"]?.string == "spring")
            #expect(before?["winBack"]?.elements.isEmpty == true)
            _ = try await fixture.upload([try fixture.transaction(of: Self.account)], of: Self.account)
            try await fixture.apply(fixture.records(1))
            #expect(try await offers()?["data"]?.elements.first?["reason"]?.string == "notAmong")
        }
    }

    @Test func `An account's win-back offers are those that Apple signed, with the date of the renewal info`()
        async throws
    {
        try await Self.with { fixture, _ in
            let signed = UploadFixture.now.addingTimeInterval(-5)
            let renewal = try fixture.material.signed(
                fixture.material.renewal { renewal in
                    renewal.originalTransactionId = "2000000000000001"
                    renewal.eligibleWinBackOfferIds = ["best", "second"]
                    renewal.signedDate = signed
                })
            let transaction = try fixture.transaction(of: Self.account)
            let accepted = try await fixture.post { json in
                json.member("appAccountToken", Self.account.uuidString)
                for (name, part) in [("signedTransactions", transaction), ("signedRenewalInfos", renewal)] {
                    json.beginArray(name)
                    json.element(String(decoding: part, as: UTF8.self))
                    json.endArray()
                }
            }
            #expect(accepted.accepted == 2)
            try await fixture.apply(fixture.records(2))
            let answer = try await fixture.api.get(
                "/v1/accounts/\(Self.account.uuidString)/offers?bundleId=\(ForgeryMaterial.bundleId)", key: fixture.key)
            let winBacks = answer.json?["winBack"]?.elements ?? []
            #expect(winBacks.map { $0["originalTransactionId"]?.string } == ["2000000000000001"])
            #expect(winBacks.first?["productId"]?.string == "com.example.reader.monthly")
            let offers = winBacks.first?["eligibleWinBackOfferIds"]?.elements.map(\.string)
            #expect(offers == ["best", "second"])
            #expect(winBacks.first?["signedDate"]?.int64 == signed.milliseconds)
        }
    }

    @Test func `Where no rule is needed, an offer is signed without one, as often as it is asked`() async throws {
        try await Self.with(needsOfferRule: false) { fixture, _ in
            let answers = [try await Self.ask(fixture, nil), try await Self.ask(fixture, nil)]
            #expect(answers.allSatisfy { $0.json?["allowed"]?.bool == true })
            #expect(Set(answers.compactMap { $0.json?["storeKit1"]?["nonce"]?.string }).count == 2)
        }
    }

    @Test func `An offer for an app without a key is rejected with what to do`() async throws {
        try await UploadFixture.with { fixture in
            let answer = try await fixture.post("/v1/offers/promotional") { json in
                json.member("productId", "gold")
                json.member("offerIdentifier", "spring")
            }
            #expect(answer.problem == "conflict")
        }
    }

    @Test func `An account is eligible until a transaction of the group used an introductory offer`() async throws {
        try await Self.with { fixture, key in
            func ask() async throws -> RunningAPI.Answer {
                try await fixture.post("/v1/offers/introductory-eligibility") { json in
                    json.member("subscriptionGroupIdentifier", "20000001")
                    json.member("appAccountToken", Self.account.uuidString)
                    json.member("productId", "gold")
                    json.member("transactionId", "7")
                }
            }
            let before = try await ask()
            #expect(before.json?["isEligible"]?.bool == true && before.json?["isKnown"]?.bool == false)
            let signed = try fixture.transaction(of: Self.account) { $0.offerType = .introductory }
            _ = try await fixture.upload([signed], of: Self.account)
            try await fixture.apply(fixture.records(1))
            let after = try await ask()
            #expect(after.json?["isEligible"]?.bool == false && after.json?["isKnown"]?.bool == true)
            #expect(after.json?["usedByTransactionId"]?.string == "2000000000000001")
            let claims = try Self.claims(after.json?["jws"]?.string, signedBy: key)
            #expect(claims["allowIntroductoryOffer"]?.bool == false)
        }
    }

    @Test func `A new or erased account gets no second introductory offer for the customer of an old one`()
        async throws
    {
        try await Self.with { fixture, key in
            let id = "2000000000000001"
            let signed = try fixture.transaction(id, of: Self.account) {
                $0.appTransactionId = "70001"
                $0.offerType = .introductory
            }
            try await fixture.apply([AppleTests.webhook(signed)])
            func ask(of account: UUID, for transaction: String) async throws -> RunningAPI.Answer {
                try await fixture.post("/v1/offers/introductory-eligibility") { json in
                    json.member("subscriptionGroupIdentifier", "20000001")
                    json.member("appAccountToken", account.uuidString)
                    json.member("productId", "gold")
                    json.member("transactionId", transaction)
                }
            }
            for named in [id, "70001"] {
                let answer = try await ask(of: UUID(), for: named)
                #expect(answer.json?["isEligible"]?.bool == false && answer.json?["isKnown"]?.bool == false)
                #expect(answer.json?["usedByTransactionId"]?.string == id)
                let claims = try Self.claims(answer.json?["jws"]?.string, signedBy: key)
                #expect(claims["allowIntroductoryOffer"]?.bool == false)
            }
            #expect(try await ask(of: UUID(), for: "70002").json?["isEligible"]?.bool == true)
            let connection = TestDatabase.connection(fixture.api.database)
            let certificate = try await ErasureStore(connection).forget(
                Self.account, of: ForgeryMaterial.bundleId, in: .production, extent: .erase, id: UUID(),
                at: UploadFixture.now)
            await connection.close()
            #expect(certificate != nil)
            #expect(try await ask(of: Self.account, for: "70002").problem == "conflict")
        }
    }
}
