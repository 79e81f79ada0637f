import AppStore
import Contracts
import Foundation
import Signatures
import StrictJSON
import Testing

@testable import Simulator

@Suite struct LetterWriterTests {
    static let now = Date(milliseconds: 1_790_000_000_000)
    static let authority = Result { try DevelopmentAuthority(now: now) }
    static let impostor = Result { try DevelopmentAuthority(now: now) }

    static func writer() throws -> LetterWriter {
        LetterWriter(authority: try authority.get(), impostor: try impostor.get())
    }

    @Test func `a subscription's notification is as big as Apple's`() throws {
        let writer = try Self.writer()
        for notice in PopulationTests.notices(400, seed: 3) where notice.renewal != nil {
            let letter = try writer.write(Draft(notice: notice))
            #expect((13_000...20_480).contains(letter.body.count))
        }
    }

    @Test func `all three signatures are the leaf's, under the same header`() throws {
        let key = try Self.authority.get().leafKey.publicKey()
        for notice in PopulationTests.notices(50, seed: 4) {
            let outer = try Self.writer().sign(notice)
            let jws = try #require(CompactJWS(outer[...]))
            let data = try #require(try Self.claims(of: outer)["data"])
            let nested = ["signedTransactionInfo", "signedRenewalInfo"].compactMap { data[$0]?.string }
            #expect(nested.count == (notice.purchase == nil ? 0 : notice.renewal == nil ? 1 : 2))
            for text in [outer] + nested.map({ Array($0.utf8) }) {
                let part = try #require(CompactJWS(text[...]))
                #expect(part.header == jws.header)
                let signature = try #require(Base64.decode(part.signature, .url))
                #expect(key.isValid(signature: signature, over: Array(part.signed)))
            }
        }
    }

    @Test func `the same notice is written in the same words`() throws {
        for notice in PopulationTests.notices(200, seed: 6) {
            let first = try Self.withoutSignatures(try Self.writer().sign(notice))
            let second = try Self.withoutSignatures(try Self.writer().sign(notice))
            #expect(first == second)
        }
    }

    @Test func `the book says of a notification what its payload says`() throws {
        for notice in PopulationTests.notices(300, seed: 7) {
            let letter = try Self.writer().write(Draft(notice: notice))
            let body = try JSONDocument(letter.body).root
            let payload = try Self.claims(of: Array(try #require(body["signedPayload"]?.string).utf8))
            let data = try #require(payload["data"])
            let entry = letter.entry
            #expect(payload["notificationUUID"]?.string == entry.uuid)
            #expect(payload["notificationType"]?.string == entry.notificationType)
            #expect(payload["subtype"]?.string == entry.subtype)
            #expect(payload["signedDate"]?.int64 == entry.signedDate)
            #expect(data["environment"]?.string == entry.environment.rawValue)
            #expect(data["bundleId"]?.string == entry.bundleId)
            #expect(data["status"]?.int64 == (entry.facts?.status).map(Int64.init))
            guard let facts = entry.facts else { continue }
            let transaction = try Self.claims(of: Array(try #require(data["signedTransactionInfo"]?.string).utf8))
            #expect(transaction["originalTransactionId"]?.string == entry.originalTransactionId)
            #expect(transaction["transactionId"]?.string == entry.transactionId)
            #expect(transaction["productId"]?.string == facts.productId)
            #expect(transaction["purchaseDate"]?.int64 == facts.purchaseDate)
            #expect(transaction["expiresDate"]?.int64 == facts.expiresDate)
            #expect(transaction["revocationDate"]?.int64 == facts.revocationDate)
            #expect(transaction["revocationReason"]?.int64 == facts.revocationReason.map(Int64.init))
            #expect(transaction["appAccountToken"]?.string == facts.appAccountToken)
            guard let text = data["signedRenewalInfo"]?.string else { continue }
            let renewal = try Self.claims(of: Array(text.utf8))
            #expect(renewal["originalTransactionId"]?.string == entry.originalTransactionId)
            #expect(renewal["autoRenewStatus"]?.int64 == facts.autoRenewStatus.map(Int64.init))
            #expect(renewal["autoRenewProductId"]?.string == facts.autoRenewProductId)
            #expect(renewal["isInBillingRetryPeriod"]?.bool == facts.isInBillingRetryPeriod)
            #expect(renewal["gracePeriodExpiresDate"]?.int64 == facts.gracePeriodExpiresDate)
            #expect(renewal["expirationIntent"]?.int64 == facts.expirationIntent.map(Int64.init))
        }
    }

    @Test(arguments: PopulationTests.seeds)
    func `every genuine notification is proven, and says what the book says`(seed: UInt64) throws {
        let verifier = try Self.verifier()
        let writer = try Self.writer()
        for notice in PopulationTests.notices(60, seed: seed) {
            let proven = try verifier.notification(writer.sign(notice), now: Self.now).get()
            #expect(proven.notificationUUID == notice.uuid)
            #expect(proven.notificationType == notice.announcement.type.rawValue)
            #expect(proven.originalTransactionId == notice.purchase?.originalTransactionId)
            #expect(proven.signedDate == notice.signedDate)
        }
    }

    @Test(arguments: Forgery.allCases)
    func `a forgery is refused for the reason in the book`(forgery: Forgery) throws {
        let verifier = try Self.verifier()
        for notice in PopulationTests.notices(50, seed: 8) where notice.renewal != nil {
            let letter = try Self.writer().write(Draft(notice: notice, forgery: forgery))
            let text = try #require(try JSONDocument(letter.body).root["signedPayload"]?.string)
            let outcome = verifier.notification(Array(text.utf8), now: Self.now)
            guard case .failure(let refusal) = outcome else { return _ = Issue.record("\(forgery) was believed") }
            #expect(refusal.reason.rawValue == letter.entry.forgery)
            // The door looks at the shape only, and must let it through to the verifier.
            let jws = try #require(CompactJWS(Array(text.utf8)[...]))
            for segment in [jws.header, jws.payload, jws.signature] { #expect(Base64.decode(segment, .url) != nil) }
        }
    }

    @Test(arguments: Specimen.allCases, PopulationTests.apps)
    func `a specimen is believed or refused as its name says`(specimen: Specimen, app: App) throws {
        let jws = try specimen.signed(by: try Self.writer(), for: app, seed: 11, now: Self.now)
        let refusals: [Specimen: RefusalReason] = [
            .tampered: .signature, .wrongRoot: .chainUntrusted, .unsigned: .algorithm, .strangersApp: .appUnknown,
            .foreignTransaction: .nestedMismatch, .tooNew: .notYetValid, .tooOld: .expiredAtSigning,
        ]
        switch try Self.verifier().notification(jws, now: Self.now) {
        case .success: #expect(refusals[specimen] == nil)
        case .failure(let refusal): #expect(refusal.reason == refusals[specimen], "\(refusal.message)")
        }
    }

    /// Trusts the development root for the apps of the population, and nothing else.
    static func verifier() throws -> SignedDataVerifier {
        let root = try Certificate(der: try authority.get().root)
        let apps = PopulationTests.apps.map {
            AcceptedApp(
                bundleId: $0.bundleId, appAppleId: $0.appAppleId,
                environments: [AppStoreEnvironment(rawValue: $0.environment.rawValue)])
        }
        return SignedDataVerifier(trust: TrustStore(roots: [root]), apps: AppRegistry(apps: apps))
    }

    static func claims(of jws: [UInt8]) throws -> JSONValue {
        let parts = try #require(CompactJWS(jws[...]))
        return try JSONDocument(try #require(Base64.decode(parts.payload, .url))).root
    }

    /// The claims with the nested ones decoded: all of a notification but what is random in it.
    private static func withoutSignatures(_ jws: [UInt8]) throws -> [String] {
        let payload = try claims(of: jws)
        let data = try #require(payload["data"])
        var texts = ["notificationUUID", "notificationType", "subtype"].compactMap { payload[$0]?.string }
        for name in ["signedTransactionInfo", "signedRenewalInfo"] {
            guard let nested = data[name]?.string else { continue }
            texts.append(String(decoding: try claims(of: Array(nested.utf8)).rawBytes, as: UTF8.self))
        }
        return texts
    }
}
