import AppStore
import Contracts
import Development
import Foundation
import Signatures
import StrictJSON
import Testing

@testable import SimulatedAppStore

@Suite struct NotificationSignerTests {
    static let now = Date(milliseconds: 1_790_000_000_000)
    static let authority = Result { try DevelopmentAuthority(now: now) }
    static let impostor = Result { try DevelopmentAuthority(now: now) }

    static func signer() throws -> NotificationSigner {
        NotificationSigner(authority: try authority.get(), impostor: try impostor.get())
    }

    @Test func `Notification of a subscription is as big as Apple's`() throws {
        let signer = try Self.signer()
        for event in PopulationTests.events(400, seed: 3) where event.renewal != nil && event.object == .data {
            let notification = try signer.write(PendingNotification(event: event))
            #expect((13_000...20_480).contains(notification.body.count))
        }
    }

    @Test func `Signatures are all three made by the leaf, under the same header`() throws {
        let key = try Self.authority.get().leafKey.publicKey()
        for event in PopulationTests.events(50, seed: 4) {
            let outer = try Self.signer().sign(event)
            let jws = try #require(CompactJWS(outer[...]))
            let data = try #require(try Self.claims(of: outer)["data"])
            let nested = ["signedTransactionInfo", "signedRenewalInfo"].compactMap { data[$0]?.string }
            #expect(nested.count == (event.purchase == nil ? 0 : event.renewal == nil ? 1 : 2))
            for text in [outer] + nested.map({ Array($0.utf8) }) {
                let part = try #require(CompactJWS(text[...]))
                #expect(part.header == jws.header)
                let signature = try #require(Base64.decode(part.signature, .url))
                #expect(key.isValid(signature: signature, over: Array(part.signed)))
            }
        }
    }

    @Test func `Event is written the same way each time`() throws {
        for event in PopulationTests.events(200, seed: 6) {
            let first = try Self.withoutSignatures(try Self.signer().sign(event))
            let second = try Self.withoutSignatures(try Self.signer().sign(event))
            #expect(first == second)
        }
    }

    @Test func `Record says of a notification what its payload says`() throws {
        for event in PopulationTests.events(300, seed: 7) {
            let notification = try Self.signer().write(PendingNotification(event: event))
            let body = try JSONDocument(notification.body).root
            let payload = try Self.claims(of: Array(try #require(body["signedPayload"]?.string).utf8))
            let names = ["data", "summary", "externalPurchaseToken", "appData", "unclaimInfo", "giftInfo"]
            let objects = names.compactMap { payload[$0] }
            #expect(objects.count == 1)
            let data = try #require(objects.first)
            let entry = notification.entry
            #expect(payload["notificationUUID"]?.string == entry.uuid)
            #expect(payload["notificationType"]?.string == entry.notificationType)
            #expect(payload["subtype"]?.string == entry.subtype)
            #expect(payload["signedDate"]?.int64 == entry.signedDate)
            if payload["externalPurchaseToken"] == nil {
                #expect(data["environment"]?.string == entry.environment.rawValue)
            }
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
    func `Every genuine notification is verified, and says what the record says`(seed: UInt64) throws {
        let verifier = try Self.verifier()
        let signer = try Self.signer()
        for event in PopulationTests.events(60, seed: seed) {
            let proven = try verifier.notification(signer.sign(event), now: Self.now).get()
            #expect(proven.notificationUUID == event.uuid)
            #expect(proven.notificationType == event.kind.type.rawValue)
            #expect(proven.originalTransactionId == event.purchase?.originalTransactionId)
            #expect(proven.signedDate == event.signedDate)
        }
    }

    @Test(arguments: InvalidVariant.allCases)
    func `Forgery is rejected for the reason in the record`(invalidVariant: InvalidVariant) throws {
        let verifier = try Self.verifier()
        for event in PopulationTests.events(50, seed: 8) where event.renewal != nil {
            let notification = try Self.signer().write(
                PendingNotification(event: event, invalidVariant: invalidVariant))
            let text = try #require(try JSONDocument(notification.body).root["signedPayload"]?.string)
            let outcome = verifier.notification(Array(text.utf8), now: Self.now)
            guard case .failure(let rejection) = outcome else {
                return _ = Issue.record("\(invalidVariant) was accepted")
            }
            #expect(rejection.reason.rawValue == notification.entry.expectedRejection)
            // Ingest looks at the shape only, and must let it through to the verifier.
            let jws = try #require(CompactJWS(Array(text.utf8)[...]))
            for segment in [jws.header, jws.payload, jws.signature] { #expect(Base64.decode(segment, .url) != nil) }
        }
    }

    @Test(arguments: SampleCase.allCases, PopulationTests.apps)
    func `Sample case is accepted or rejected as its name says`(sampleCase: SampleCase, app: App) throws {
        let jws = try sampleCase.signed(by: try Self.signer(), for: app, seed: 11, now: Self.now)
        let rejections: [SampleCase: VerificationFailureReason] = [
            .tampered: .signature, .wrongRoot: .chainUntrusted, .unsigned: .algorithm, .strangersApp: .appUnknown,
            .foreignTransaction: .nestedMismatch, .tooNew: .notYetValid, .tooOld: .expiredAtSigning,
        ]
        switch try Self.verifier().notification(jws, now: Self.now) {
        case .success: #expect(rejections[sampleCase] == nil)
        case .failure(let rejection): #expect(rejection.reason == rejections[sampleCase], "\(rejection.message)")
        }
    }

    @Test func `What is signed for a device proves that it was made there, and nowhere else`() throws {
        let signer = try Self.signer()
        var story = PurchaseFixture()
        let event = story.next(.subscribe)
        let purchase = try #require(event.purchase)
        let app = PayloadBuilder.appTransaction(of: event)
        let device = UUID()
        for jws in [try signer.sign(purchase, in: event, for: device), try signer.sign(app, for: device)] {
            let mark = try #require(DeviceVerification(json: try Self.claims(of: jws)))
            #expect(mark.isOf(device) && !mark.isOf(UUID()))
        }
        #expect(DeviceVerification(json: try Self.claims(of: try signer.sign(purchase, in: event))) == nil)
    }

    @Test func `A device is named by a UUID, beside the signed text that is for it`() throws {
        let device = UUID().uuidString
        #expect(try PurchasesCommand.parse(["1", "--signed", "--device", device]).device == device)
        for arguments in [["1", "--device", device], ["1", "--signed", "--device", "phone"]] {
            #expect(throws: (any Error).self) { try PurchasesCommand.parse(arguments) }
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

    /// The claims with the nested ones decoded: a notification without its signatures.
    private static func withoutSignatures(_ jws: [UInt8]) throws -> [String] {
        let payload = try claims(of: jws)
        var texts = ["notificationUUID", "notificationType", "subtype"].compactMap { payload[$0]?.string }
        for name in ["signedTransactionInfo", "signedRenewalInfo"] {
            guard let nested = payload["data"]?[name]?.string else { continue }
            texts.append(String(decoding: try claims(of: Array(nested.utf8)).rawBytes, as: UTF8.self))
        }
        return texts
    }
}
