import AppStore
import Development
import Foundation
import Signatures
import Testing

@testable import Operations

struct ProofTests {
    private let fixture: ProofFixture

    init() throws { fixture = try ProofFixture() }

    @Test func `Notification is verified, with its certificates, and not without the root`() throws {
        let jws = try fixture.sign()
        let proof = fixture.proof(jws)
        #expect(proof.rejection == nil)
        #expect(proof.kind == .notification && proof.isKindGuessed)
        #expect(proof.certificates.count == 3 && !proof.isSignedByApple)
        #expect(fixture.proof(jws, trust: .apple).rejection?.reason == .chainUntrusted)
    }

    @Test func `Identity is checked where it is given`() throws {
        let jws = try fixture.sign()
        let same = Proof.Identity(bundleId: "com.example.app", appAppleId: 7, environment: .production)
        #expect(fixture.proof(jws, identity: same).rejection == nil)
        #expect(fixture.proof(jws, identity: .init(bundleId: "com.example.other")).rejection?.reason == .appUnknown)
        let number = Proof.Identity(bundleId: "com.example.app", appAppleId: 8)
        #expect(fixture.proof(jws, identity: number).rejection?.reason == .appMismatch)
        let environment = Proof.Identity(bundleId: "com.example.app", appAppleId: 7, environment: .sandbox)
        #expect(fixture.proof(jws, identity: environment).rejection?.reason == .environment)
    }

    @Test(
        arguments: [
            (
                #"{"transactionId":"1","originalTransactionId":"1","bundleId":"b","environment":"Sandbox","signedDate":DATE}"#,
                Proof.Kind.transaction
            ),
            (
                #"{"originalTransactionId":"1","autoRenewProductId":"p","environment":"Sandbox","signedDate":DATE}"#,
                .renewalInfo
            ),
            (#"{"receiptType":"Sandbox","bundleId":"b","appAppleId":0,"receiptCreationDate":DATE}"#, .appTransaction),
            (realtimeRequest, .realtimeRequest),
        ])
    func `Kind is guessed by the fields`(payload: String, kind: Proof.Kind) throws {
        let payload = payload.replacingOccurrences(of: "DATE", with: String(ProofFixture.signedDate))
        #expect(fixture.proof(try fixture.sign(payload)).kind == kind)
    }

    private static let realtimeRequest = """
        {"originalTransactionId":"1","appAppleId":7,"productId":"p","userLocale":"en-US","environment":"Production",\
        "requestIdentifier":"7e3fb20b-4cdb-47cc-936d-99d65f608138","signedDate":DATE}
        """

    @Test func `Request for a retention message is verified by Apple's number of the app`() throws {
        let payload = Self.realtimeRequest.replacingOccurrences(of: "DATE", with: String(ProofFixture.signedDate))
        let jws = try fixture.sign(payload)
        let proof = fixture.proof(jws)
        #expect(proof.rejection == nil && proof.kind == .realtimeRequest, "\(String(describing: proof.rejection))")
        let own = Proof.Identity(bundleId: "com.example.app", appAppleId: 7, environment: .production)
        #expect(fixture.proof(jws, identity: own).rejection == nil)
        let other = Proof.Identity(bundleId: "com.example.app", appAppleId: 8)
        #expect(fixture.proof(jws, identity: other).rejection?.reason == .appUnknown)
        let environment = Proof.Identity(bundleId: "com.example.app", appAppleId: 7, environment: .sandbox)
        #expect(fixture.proof(jws, identity: environment).rejection?.reason == .environment)
        let nameless = try fixture.sign(payload.replacingOccurrences(of: #""appAppleId":7,"#, with: ""))
        #expect(fixture.proof(nameless).rejection?.reason == .body)
    }

    @Test func `Proof rejects text that is no JWS, without a crash`() {
        let proof = fixture.proof(Array("no.jws".utf8))
        #expect(proof.rejection?.reason == .malformed)
        #expect(proof.certificates.isEmpty && proof.payload == nil)
    }
}
