import AppStore
import Foundation
import Testing

@testable import AppStoreSamples

@Suite struct ProvenPartTests {
    private static let now = Date(timeIntervalSince1970: 1_780_000_000)

    private static func reason(_ result: Result<ProvenPart, VerificationFailure>) -> VerificationFailureReason? {
        guard case .failure(let rejection) = result else { return nil }
        return rejection.reason
    }

    @Test func `ProvenPart recognizes an object on its own by what Apple signed`() throws {
        let material = try ForgeryMaterial(now: Self.now)
        let verifier = try material.verifier()
        func part(_ json: [UInt8], claimedApp: String? = nil) throws -> ProvenPart {
            try verifier.part(
                material.signed(json: String(decoding: json, as: UTF8.self)), claimedApp: claimedApp, now: Self.now
            ).get()
        }
        guard case .transaction(let transaction) = try part(material.transaction().json),
            case .renewalInfo(let renewal, let app) = try part(
                material.renewal().json, claimedApp: ForgeryMaterial.bundleId),
            case .notification(let notification) = try part(
                material.envelope(material.transaction(), material.renewal()).json)
        else {
            Issue.record("one was taken for another")
            return
        }
        #expect(transaction.value == material.transaction())
        #expect(renewal.value == material.renewal())
        #expect(app == ForgeryMaterial.bundleId)
        #expect(notification.notificationType == "DID_RENEW")
    }

    @Test func `ProvenPart needs a configured app, and renewal info a claimed one`() throws {
        let material = try ForgeryMaterial(now: Self.now)
        let verifier = try material.verifier()
        var foreign = material.transaction()
        foreign.bundleId = "com.example.other"
        var sandbox = material.renewal()
        sandbox.environment = AppStoreEnvironment(rawValue: "Xcode")
        var nameless = material.transaction()
        nameless.originalTransactionId = nil
        nameless.transactionId = ""
        let renewal = material.renewal().json
        let cases: [([UInt8], String?, VerificationFailureReason)] = [
            (foreign.json, nil, .appUnknown), (sandbox.json, ForgeryMaterial.bundleId, .environment),
            (nameless.json, nil, .body), (renewal, nil, .body), (renewal, "com.example.other", .appUnknown),
            (Array(#"{"deviceVerification":"x"}"#.utf8), nil, .body),
        ]
        for (json, app, reason) in cases {
            let text = String(decoding: json, as: UTF8.self)
            let result = verifier.part(try material.signed(json: text), claimedApp: app, now: Self.now)
            #expect(Self.reason(result) == reason, "\(text)")
        }
    }

    @Test func `ProvenPart has the same id under any signature, less than any of Apple's`() throws {
        let material = try ForgeryMaterial(now: Self.now)
        var other = material.transaction()
        other.quantity = 7
        func id(_ json: [UInt8]) throws -> UUID {
            let jws = try material.signed(json: String(decoding: json, as: UTF8.self))
            return try #require(CompactJWS(jws[...])).partIdentifier
        }
        let first = try id(material.transaction().json)
        #expect(try id(material.transaction().json) == first)
        #expect(try id(other.json) != first)
        #expect(first.uuidString.hasPrefix("00000000-"))
        let text = Array(first.uuidString)
        #expect(text[14] == "8")
        #expect("89AB".contains(text[19]))
    }
}
