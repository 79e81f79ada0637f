import AppStore
import Development
import Foundation
import Signatures

@testable import Operations

/// Signs payloads under a root of its own and makes proofs of them.
struct ProofFixture {
    static let now = Date(timeIntervalSince1970: 1_790_000_000)
    static let signedDate = 1_789_999_000_000

    /// The payload of a test notification.
    static let notification = """
        {"notificationType":"TEST","notificationUUID":"5f0b4e2c-6c0d-4c0e-8a51-0d6c8f3f6b01","version":"2.0",\
        "signedDate":\(signedDate),"data":{"bundleId":"com.example.app","appAppleId":7,"environment":"Production"}}
        """

    private let authority: DevelopmentAuthority
    private let trust: TrustStore

    init() throws {
        authority = try DevelopmentAuthority(now: Self.now)
        trust = try TrustStore.apple.adding(rootsIn: Array(authority.rootPEM.utf8))
    }

    func sign(_ payload: String = notification) throws -> [UInt8] {
        try CompactJWS.signed(
            headerJSON: CompactJWS.headerJSON(x5c: authority.x5c), payloadJSON: Array(payload.utf8),
            key: authority.leafKey)
    }

    /// - Parameter trust: nil trusts the fixture's own root, too.
    func proof(_ jws: [UInt8], trust: TrustStore? = nil, identity: Proof.Identity = .init()) -> Proof {
        Proof(of: jws, kind: nil, trust: trust ?? self.trust, identity: identity, now: Self.now)
    }
}
