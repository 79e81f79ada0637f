import AppStore
import Development
import Foundation
import Signatures
import Testing

@testable import Operations
@testable import Storekeeper

struct ProofTextTests {
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

    @Test func `Text of a proof says who signed and what was not checked`() throws {
        let proof = proof(try sign(Self.test))
        #expect(proof.text.hasPrefix("VERIFIED: signed by a root given with --root (not Apple)"))
        #expect(proof.text.contains("NOT CHECKED: give --bundle-id"))
        #expect(proof.text.contains(#""notificationType": "TEST""#))
    }

    @Test func `verify rejects a notification without its root, and shows the payload as unproven`() throws {
        let proof = proof(try sign(Self.test), trust: .apple)
        #expect(proof.rejection?.reason == .chainUntrusted)
        #expect(proof.text.hasPrefix("REJECTED (chain-untrusted): "))
        #expect(proof.text.contains("payload, NOT verified"))
    }

    @Test func `verify --json prints JSON`() throws {
        struct Answer: Decodable {
            var verified: Bool
            var reason: String?
            var certificates: [[String: String]]
        }
        let jws = try sign(Self.test)
        let proven = try JSONDecoder().decode(Answer.self, from: Data(proof(jws).json.utf8))
        #expect(proven.verified && proven.reason == nil && proven.certificates.count == 3)
        let rejected = try JSONDecoder().decode(Answer.self, from: Data(proof(jws, trust: .apple).json.utf8))
        #expect(!rejected.verified && rejected.reason == "chain-untrusted")
    }

    @Test func `Text of a proof without a JWS shows no certificate`() {
        let proof = proof(Array("no.jws".utf8))
        #expect(proof.text.contains("none readable"))
    }
}
