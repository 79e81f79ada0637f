import AppStore
import Foundation
import Testing

@testable import AppStoreSamples

/// Notifications with an object that this release does not know, or with none (L12), and purchases without an original
/// transaction (L18, E10).
@Suite struct UnknownObjectTests {
    private static let now = Date(timeIntervalSince1970: 1_780_000_000)

    private static func result(
        _ members: String, type: String = "UNCLAIM_SEATS", developmentMode: Bool = false
    ) throws -> Result<ProvenNotification, VerificationFailure> {
        let material = try ForgeryMaterial(now: now)
        var apps = material.registry.all
        if developmentMode { apps[1].environments.insert(.xcode) }
        let verifier = SignedDataVerifier(
            trust: try material.trust(), apps: AppRegistry(apps: apps, developmentMode: developmentMode))
        let json = """
            {"notificationType":"\(type)","notificationUUID":"b5e0a6a0-6a3c-4a26-8dcb-5a2f66d6b3a5",\
            "version":"2.0","signedDate":\(Int64(now.timeIntervalSince1970 * 1000))\(members)}
            """
        return verifier.notification(try material.signed(json: json), now: now)
    }

    private static func reason(_ members: String) throws -> VerificationFailureReason? {
        guard case .failure(let rejection) = try result(members) else { return nil }
        return rejection.reason
    }

    private static let app = "\"bundleId\":\"\(ForgeryMaterial.bundleId)\""

    @Test func `Verifier binds an unknown object to the app, environment and purchase that it names`() throws {
        let proven = try Self.result(
            """
            ,"unclaimInfo":{\(Self.app),"environment":"Sandbox","originalTransactionId":"2000000123456789",\
            "unclaimSeatIds":["b5e0a6a0-6a3c-4a26-8dcb-5a2f66d6b3a6"]}
            """
        ).get()
        #expect(proven.bundleId == ForgeryMaterial.bundleId)
        #expect(proven.environment == .sandbox)
        #expect(proven.originalTransactionId == "2000000123456789")
        #expect(proven.notificationType == "UNCLAIM_SEATS")
        let decoded = try DecodedNotification(decoded: proven.decoded)
        #expect(decoded.transaction == nil && decoded.envelope.data == nil)
    }

    @Test func `Verifier takes an object without an environment for production, and the app of the envelope`() throws {
        let inObject = try Self.result(",\"future\":{\(Self.app)},\"list\":[1]").get()
        #expect(inObject.bundleId == ForgeryMaterial.bundleId && inObject.environment == .production)
        let inEnvelope = try Self.result(",\(Self.app),\"future\":{}", type: "FUTURE").get()
        #expect(inEnvelope.bundleId == ForgeryMaterial.bundleId && inEnvelope.notificationType == "FUTURE")
    }

    @Test(arguments: [
        "", #","data":null"#, #","future":1"#, #","future":"x""#, #","future":[{}]"#, #","future":null"#,
        #","bundleId":"com.example.app""#,
    ])
    func `Verifier rejects a notification that has neither a documented object nor another one`(
        members: String
    ) throws {
        #expect(try Self.reason(members) == .body)
    }

    @Test(arguments: [
        #","future":{"environment":"Sandbox","originalTransactionId":"1"}"#, #","future":{},"data":null"#,
    ])
    func `Verifier stores a notification that names no app for none and for no purchase`(members: String) throws {
        let proven = try Self.result(members).get()
        #expect(proven.bundleId == ProvenNotification.noApp)
        #expect(proven.originalTransactionId == nil && proven.transactionId == nil && proven.appAppleId == nil)
    }

    @Test func `Verifier rejects an object with another developer's app, id or environment`() throws {
        let other = #""bundleId":"com.example.other""#
        #expect(try Self.reason(",\"future\":{\(other)}") == .appUnknown)
        #expect(try Self.reason(",\(other),\"future\":{}") == .appUnknown)
        #expect(try Self.reason(",\"a\":{\(Self.app)},\"b\":{\(other)}") == .appUnknown)
        #expect(try Self.reason(",\"future\":{\(Self.app),\"appAppleId\":5}") == .appMismatch)
        #expect(try Self.reason(",\"future\":{\(Self.app),\"environment\":\"Xcode\"}") == .environment)
    }

    @Test(arguments: ["summary", "externalPurchaseToken", "appData"], [#""future":{},"#, ""])
    func `Verifier rejects two documented objects in a notification`(second: String, unknown: String) throws {
        let material = try ForgeryMaterial(now: Self.now)
        let start = String(decoding: material.envelope().json, as: UTF8.self).dropLast()
        for object in ["{}", "{\(Self.app),\"environment\":\"Production\"}"] {
            let json = "\(start),\(unknown)\"\(second)\":\(object)}"
            guard
                case .failure(let rejection) = try material.verifier().notification(
                    try material.signed(json: json), now: Self.now)
            else {
                Issue.record("\(json) was accepted")
                return
            }
            #expect(rejection.reason == .body && rejection.bundleId == ForgeryMaterial.bundleId)
        }
        let one = "\(start),\"\(second)\":null}"
        #expect(
            try material.verifier().notification(try material.signed(json: one), now: Self.now).get().environment
                == .production)
    }

    @Test func `Verifier takes an empty environment for Xcode in development mode and rejects it otherwise (D17)`()
        throws
    {
        let members = ",\"data\":{\"bundleId\":\"\(ForgeryMaterial.bundleId)\",\"environment\":\"\"}"
        #expect(try Self.reason(members) == .environment)
        let proven = try Self.result(members, developmentMode: true).get()
        #expect(proven.environment == .xcode)
    }

    @Test(arguments: [nil, ""])
    func `Verifier lets a transaction without an original one stand for itself`(original: String?) throws {
        let material = try ForgeryMaterial(now: Self.now)
        let transaction = material.transaction { $0.originalTransactionId = original }
        var envelope = material.envelope()
        envelope.data?.signedTransactionInfo = String(
            decoding: try material.signed(transaction), as: UTF8.self)
        let verifier = try material.verifier()
        let proven = try verifier.notification(try material.signed(envelope), now: Self.now).get()
        #expect(proven.originalTransactionId == transaction.transactionId)
        guard
            case .transaction(let part) = try verifier.part(
                try material.signed(transaction), claimedApp: nil, now: Self.now
            ).get()
        else {
            Issue.record("it was taken for something else")
            return
        }
        #expect(part.value.purchaseId == transaction.transactionId)
    }
}
