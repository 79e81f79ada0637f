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
        ])
    func `Kind is guessed by the fields`(payload: String, kind: Proof.Kind) throws {
        let payload = payload.replacingOccurrences(of: "DATE", with: String(ProofFixture.signedDate))
        #expect(fixture.proof(try fixture.sign(payload)).kind == kind)
    }

    @Test func `Proof rejects text that is no JWS, without a crash`() {
        let proof = fixture.proof(Array("no.jws".utf8))
        #expect(proof.rejection?.reason == .malformed)
        #expect(proof.certificates.isEmpty && proof.payload == nil)
    }
}
