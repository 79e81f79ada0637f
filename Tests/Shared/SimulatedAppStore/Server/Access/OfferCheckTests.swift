import AppStore
import Foundation
import ServerAPI
import Signatures
import StrictJSON
import Testing

@testable import SimulatedAppStore

/// Purchases with an offer that the developer's server signed, and what the App Store refuses.
@Suite struct OfferCheckTests {
    private static let app = "com.example.app"
    private static let account = "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b"
    private static let product = "com.example.app.premium.monthly"

    private static func signer(_ fixture: SimulatorFixture, app: String = app) -> OfferSigner {
        let token = fixture.token
        return OfferSigner(
            bundleId: app, key: APIKey(issuerId: token.issuerId, keyId: token.keyId, privateKey: token.key))
    }

    /// A JWS, some seconds old.
    private static func jws(
        _ fixture: SimulatorFixture, app: String = app, product: String = product, transaction: String? = nil,
        nonce: UUID = UUID(), age: Double = 0
    ) throws -> String {
        let jws = try signer(fixture, app: app).promotionalOffer(
            productId: product, offerIdentifier: "spring", transactionId: transaction, nonce: nonce,
            now: fixture.now.addingTimeInterval(-age))
        return "\"\(jws)\""
    }

    /// The members of `SKPaymentDiscount`, some seconds old.
    private static func discount(
        _ fixture: SimulatorFixture, product: String = product, account: String = account, named: String = "spring",
        age: Double = 0
    ) throws -> String {
        let (nonce, timestamp) = (UUID(), fixture.now.addingTimeInterval(-age).milliseconds)
        let signature = try signer(fixture).promotionalOfferSignature(
            productId: product, offerIdentifier: "spring", applicationUsername: account, nonce: nonce,
            timestamp: timestamp)
        return """
            {"identifier":"\(named)","keyIdentifier":"\(fixture.token.keyId)","timestamp":\(timestamp),\
            "nonce":"\(nonce.uuidString.lowercased())","applicationUsername":"\(account)","signature":"\(signature)"}
            """
    }

    /// Introductory eligibility, some seconds old.
    private static func eligibility(
        _ fixture: SimulatorFixture, isAllowed: Bool = true, app: String = app, product: String = product,
        transaction: String, nonce: UUID = UUID(), age: Double = 0
    ) throws -> String {
        let jws = try signer(fixture, app: app).introductoryOffer(
            productId: product, isAllowed: isAllowed, transactionId: transaction, nonce: nonce,
            now: fixture.now.addingTimeInterval(-age))
        return "\"\(jws)\""
    }

    private static func buy(
        _ fixture: SimulatorFixture, _ offer: String?, eligibility: String? = nil, product: String = product,
        account: String = account
    ) async throws -> SimulatorFixture.Answer {
        try await fixture.send(
            "POST", "/simulator/purchases",
            """
            {"productId":"\(product)","environment":"Production","appAccountToken":"\(account)",\
            "promotionalOffer":\(offer ?? "null"),"introductoryEligibility":\(eligibility ?? "null")}
            """)
    }

    /// The offer of the newest transaction of the newest purchase.
    private static func offer(_ fixture: SimulatorFixture) -> Offer? {
        fixture.deliveryService.withOutbox { $0.manualPurchases.all.last?.purchase?.offer }
    }

    @Test func `The introductory offer is given as the server signed, also to a customer who had it`() async throws {
        try await SimulatorFixture.open { fixture in
            // A consumable, so that there is a transaction of the customer.
            let coins = try await Self.buy(fixture, nil, product: "com.example.app.coins.100")
            let id = try #require(coins.json?["transactionId"]?.string)
            for isAllowed in [true, true, false] {
                let eligibility = try Self.eligibility(fixture, isAllowed: isAllowed, transaction: id, age: 86_000)
                let bought = try await Self.buy(fixture, nil, eligibility: eligibility)
                #expect(bought.status == 201 && Self.offer(fixture) == (isAllowed ? Offer.freeWeek : nil))
                let purchase = try #require(bought.json?["originalTransactionId"]?.string)
                let refund = #"{"notificationType":"REFUND"}"#
                #expect(try await fixture.send("POST", "/simulator/purchases/\(purchase)/events", refund).status == 201)
            }
        }
    }

    @Test func `The introductory offer begins a subscription, for who has the appTransactionId`() async throws {
        try await SimulatorFixture.open { fixture in
            _ = try await Self.buy(fixture, nil, product: "com.example.app.coins.100")
            let customer = fixture.deliveryService.withOutbox { $0.manualPurchases.all.last?.customer.appTransactionId }
            let id = try #require(customer)
            let first = try Self.eligibility(fixture, transaction: id)
            #expect(try await Self.buy(fixture, nil, eligibility: first).status == 201)
            #expect(Self.offer(fixture) == .freeWeek)
            let again = try Self.eligibility(fixture, transaction: id)
            let refused = try await Self.buy(fixture, nil, eligibility: again)
            #expect(refused.json?["problem"]?.string?.contains("of the same subscription group") == true)
            let studio = "com.example.app.studio.monthly"
            let better = try Self.eligibility(fixture, product: studio, transaction: id)
            #expect(try await Self.buy(fixture, nil, eligibility: better, product: studio).status == 400)
        }
    }

    @Test(arguments: [
        ("a revoked key", "no valid signature"), ("another app", "bid is com.example.other"),
        ("another product", "productId is"), ("a promotional offer", "aud is promotional-offer"),
        ("a stale JWS", "good for 24 hours"), ("a JWS of the future", "in the future"),
        ("another customer's transaction", "no transaction of the customer"), ("a used nonce", "was used before"),
    ])
    func `The App Store refuses a purchase with a wrong or stale introductory eligibility`(
        fault: String, reason: String
    ) async throws {
        try await SimulatorFixture.open { fixture in
            let coins = "com.example.app.coins.100"
            let own = try #require(
                try await Self.buy(fixture, nil, product: coins).json?["transactionId"]?.string)
            let other = try #require(
                try await Self.buy(fixture, nil, product: coins, account: UUID().uuidString).json?["transactionId"]?
                    .string)
            let nonce = UUID()
            let eligibility =
                switch fault {
                case "another app": try Self.eligibility(fixture, app: "com.example.other", transaction: own)
                case "another product":
                    try Self.eligibility(fixture, product: "com.example.app.basic.monthly", transaction: own)
                case "a promotional offer": try Self.jws(fixture, transaction: own)
                case "a stale JWS": try Self.eligibility(fixture, transaction: own, age: 86_402)
                case "a JWS of the future": try Self.eligibility(fixture, transaction: own, age: -120)
                case "another customer's transaction": try Self.eligibility(fixture, transaction: other)
                default: try Self.eligibility(fixture, transaction: own, nonce: nonce)
                }
            if fault == "a revoked key" { _ = fixture.keys.revoke(fixture.token.keyId) }
            if fault == "a used nonce" {
                let used = try Self.jws(fixture, nonce: nonce)
                #expect(try await Self.buy(fixture, used, account: UUID().uuidString).status == 201)
            }
            let answer = try await Self.buy(fixture, nil, eligibility: eligibility)
            let problem = answer.json?["problem"]?.string ?? ""
            #expect(answer.status == 400 && problem.hasPrefix("invalidOfferSignature: "), "\(problem)")
            #expect(problem.contains(reason), "\(problem)")
            #expect(try await Self.buy(fixture, nil).json?["subtype"]?.string == "INITIAL_BUY")
        }
    }

    @Test func `A purchase has one offer, of a subscription`() async throws {
        try await SimulatorFixture.open { fixture in
            let coins = "com.example.app.coins.100"
            let own = try #require(
                try await Self.buy(fixture, nil, product: coins).json?["transactionId"]?.string)
            let both = try await Self.buy(
                fixture, try Self.jws(fixture), eligibility: Self.eligibility(fixture, transaction: own))
            #expect(both.json?["problem"]?.string?.contains("a purchase has one offer") == true)
            let consumable = try Self.eligibility(fixture, product: coins, transaction: own)
            let refused = try await Self.buy(fixture, nil, eligibility: consumable, product: coins)
            #expect(refused.json?["problem"]?.string?.contains("an auto-renewable subscription") == true)
        }
    }

    @Test func `A purchase has the offer that was signed for it, in both shapes`() async throws {
        try await SimulatorFixture.open { fixture in
            for offer in [try Self.jws(fixture, age: 86_000), try Self.discount(fixture, age: 86_000)] {
                let bought = try await Self.buy(fixture, offer)
                #expect(bought.status == 201 && bought.json?["offerIdentifier"]?.string == "spring")
                let id = try #require(bought.json?["originalTransactionId"]?.string)
                let refund = #"{"notificationType":"REFUND"}"#
                #expect(try await fixture.send("POST", "/simulator/purchases/\(id)/events", refund).status == 201)
            }
            let other = try await Self.buy(fixture, nil, account: UUID().uuidString)
            #expect(other.status == 201 && other.json?["offerIdentifier"] == nil)
        }
    }

    @Test func `A subscriber renews with an offer, or changes to its product`() async throws {
        try await SimulatorFixture.open { fixture in
            let bought = try await Self.buy(fixture, nil)
            let id = try #require(bought.json?["transactionId"]?.string)
            let same = try await Self.buy(fixture, try Self.jws(fixture, transaction: id))
            #expect(same.json?["notificationType"]?.string == "OFFER_REDEEMED" && same.json?["subtype"] == nil)
            #expect(same.json?["offerIdentifier"]?.string == "spring")
            let studio = "com.example.app.studio.monthly"
            let better = try await Self.buy(
                fixture, try Self.jws(fixture, product: studio, transaction: id), product: studio)
            #expect(better.json?["subtype"]?.string == "UPGRADE" && better.json?["productId"]?.string == studio)
        }
    }

    @Test(arguments: [
        ("a changed JWS", "no valid signature"), ("a text that is no JWS", "no valid signature"),
        ("a revoked key", "no valid signature"), ("another app", "bid is com.example.other"),
        ("another product", "productId is"), ("an introductory offer", "aud is introductory-offer-eligibility"),
        ("a stale JWS", "good for 24 hours"), ("a JWS of the future", "in the future"),
        ("another customer's transaction", "no transaction of the customer"), ("a changed discount", "did not sign"),
        ("another account", "did not sign"), ("another product's discount", "did not sign"),
        ("a stale discount", "good for 24 hours"), ("a discount without nonce", "nonce is no UUID"),
        ("a discount with a nonce in upper case", "nonce is not in lower case"),
    ])
    func `The App Store refuses a purchase with a wrong or stale signature`(
        fault: String, reason: String
    ) async throws {
        try await SimulatorFixture.open { fixture in
            let other = try await Self.buy(fixture, nil, account: UUID().uuidString)
            let offer =
                switch fault {
                case "a changed JWS":
                    try Self.jws(fixture).replacing(".", with: ".e", maxReplacements: 1)
                case "a text that is no JWS": "\"spring\""
                case "another app": try Self.jws(fixture, app: "com.example.other")
                case "another product": try Self.jws(fixture, product: "com.example.app.basic.monthly")
                case "an introductory offer":
                    try "\""
                        + Self.signer(fixture).introductoryOffer(
                            productId: Self.product, isAllowed: true, transactionId: "1", nonce: UUID(),
                            now: fixture.now)
                        + "\""
                case "a stale JWS": try Self.jws(fixture, age: 86_402)
                case "a JWS of the future": try Self.jws(fixture, age: -120)
                case "another customer's transaction":
                    try Self.jws(fixture, transaction: other.json?["transactionId"]?.string)
                case "a changed discount": try Self.discount(fixture, named: "winter")
                case "another account": try Self.discount(fixture, account: UUID().uuidString)
                case "another product's discount":
                    try Self.discount(fixture, product: "com.example.app.basic.monthly")
                case "a stale discount": try Self.discount(fixture, age: 86_402)
                case "a discount without nonce":
                    try Self.discount(fixture).replacing("\"nonce\"", with: "\"once\"")
                case "a discount with a nonce in upper case":
                    try Self.discount(fixture).replacing(#/"nonce":"[^"]+"/#) { nonce in
                        nonce.output.uppercased().replacing("NONCE", with: "nonce")
                    }
                default: try Self.jws(fixture)
                }
            if fault == "a revoked key" { _ = fixture.keys.revoke(fixture.token.keyId) }
            let answer = try await Self.buy(fixture, offer)
            let problem = answer.json?["problem"]?.string ?? ""
            #expect(answer.status == 400 && problem.hasPrefix("invalidOfferSignature: "), "\(problem)")
            #expect(problem.contains(reason), "\(problem)")
            // Nothing was bought: the account can still buy for the first time.
            #expect(try await Self.buy(fixture, nil).json?["subtype"]?.string == "INITIAL_BUY")
        }
    }

    @Test func `A JWS of Apple's Swift library is taken: its nonce is in upper case, its time has fractions`()
        async throws
    {
        try await SimulatorFixture.open { fixture in
            let (token, nonce) = (fixture.token, UUID())
            let claims = """
                {"iss":"\(token.issuerId)","bid":"\(Self.app)","aud":"promotional-offer","nonce":"\(nonce.uuidString)",\
                "iat":\(Int64(fixture.now.timeIntervalSince1970)).25,"productId":"\(Self.product)","offerIdentifier":"spring"}
                """
            let jws = try CompactJWS.signed(
                headerJSON: Array(#"{"alg":"ES256","kid":"\#(token.keyId)","typ":"JWT"}"#.utf8),
                payloadJSON: Array(claims.utf8), key: token.key)
            let bought = try await Self.buy(fixture, "\"\(String(decoding: jws, as: UTF8.self))\"")
            #expect(bought.status == 201 && bought.json?["offerIdentifier"]?.string == "spring")
            let again = try await Self.buy(fixture, Self.jws(fixture, nonce: nonce), account: UUID().uuidString)
            #expect(again.json?["problem"]?.string?.contains("was used before") == true)
        }
    }

    @Test func `A nonce is taken once, by the purchase that succeeds`() async throws {
        try await SimulatorFixture.open { fixture in
            let (nonce, other) = (UUID(), UUID().uuidString)
            let offer = try Self.jws(fixture, nonce: nonce)
            let basic = "com.example.app.basic-plus.monthly"
            #expect(try await Self.buy(fixture, nil, product: basic).status == 201)
            let cancel = #"{"notificationType":"DID_CHANGE_RENEWAL_STATUS","subtype":"AUTO_RENEW_DISABLED"}"#
            let list = try await fixture.send("GET", "/simulator/purchases")
            let id = try #require(list.json?["purchases"]?.elements.first?["originalTransactionId"]?.string)
            #expect(try await fixture.send("POST", "/simulator/purchases/\(id)/events", cancel).status == 201)
            // It does not renew, so that it cannot change.
            #expect(try await Self.buy(fixture, offer).status == 400)
            #expect(try await Self.buy(fixture, offer, account: other).status == 201)
            let again = try await Self.buy(fixture, offer, account: UUID().uuidString)
            #expect(again.json?["problem"]?.string?.contains("was used before") == true)
        }
    }
}
