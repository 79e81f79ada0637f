import AppStore
import Development
import Foundation
import Signatures
import Testing

@testable import Operations

struct ProofTests {
    private static let now = Date(timeIntervalSince1970: 1_790_000_000)
    private static let signedDate = 1_789_999_000_000

    private let authority: DevelopmentAuthority
    private let trust: TrustStore

    init() throws {
        authority = try DevelopmentAuthority(now: Self.now)
        trust = try TrustStore.apple.adding(rootsIn: Array(authority.rootPEM.utf8))
    }

    private func sign(_ payload: String) throws -> [UInt8] {
        try CompactJWS.signed(
            headerJSON: CompactJWS.headerJSON(x5c: authority.x5c), payloadJSON: Array(payload.utf8),
            key: authority.leafKey)
    }

    private func proof(
        _ jws: [UInt8], kind: Proof.Kind? = nil, trust: TrustStore? = nil, identity: Proof.Identity = .init()
    ) -> Proof {
        Proof(of: jws, kind: kind, trust: trust ?? self.trust, identity: identity, now: Self.now)
    }

    private static let test = """
        {"notificationType":"TEST","notificationUUID":"5f0b4e2c-6c0d-4c0e-8a51-0d6c8f3f6b01","version":"2.0",\
        "signedDate":\(signedDate),"data":{"bundleId":"com.example.app","appAppleId":7,"environment":"Production"}}
        """

    @Test func `Notification is proven, with its certificates, and not without the root`() throws {
        let jws = try sign(Self.test)
        let proof = proof(jws)
        #expect(proof.rejection == nil)
        #expect(proof.kind == .notification && proof.isKindGuessed)
        #expect(proof.certificates.count == 3 && !proof.isSignedByApple)
        #expect(self.proof(jws, trust: .apple).rejection?.reason == .chainUntrusted)
    }

    @Test func `Identity is checked where it is given`() throws {
        let jws = try sign(Self.test)
        let same = Proof.Identity(bundleId: "com.example.app", appAppleId: 7, environment: .production)
        #expect(proof(jws, identity: same).rejection == nil)
        #expect(proof(jws, identity: .init(bundleId: "com.example.other")).rejection?.reason == .appUnknown)
        let number = Proof.Identity(bundleId: "com.example.app", appAppleId: 8)
        #expect(proof(jws, identity: number).rejection?.reason == .appMismatch)
        let environment = Proof.Identity(bundleId: "com.example.app", appAppleId: 7, environment: .sandbox)
        #expect(proof(jws, identity: environment).rejection?.reason == .environment)
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
        let payload = payload.replacingOccurrences(of: "DATE", with: String(Self.signedDate))
        #expect(proof(try sign(payload)).kind == kind)
    }

    @Test func `Proof rejects text that is no JWS, without a crash`() {
        let proof = proof(Array("no.jws".utf8))
        #expect(proof.rejection?.reason == .malformed)
        #expect(proof.certificates.isEmpty && proof.payload == nil)
    }
}
