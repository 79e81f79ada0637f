import AppStore
import Foundation
import Signatures

@testable import SimulatedAppStore

/// A valid JWT of a client, and everything that can be wrong with one.
struct FixtureToken: Sendable {
    var issuerId = "69a6de70-0000-47e3-e053-5b8c7c11a4d1"
    var keyId = "2X9R4HXF34"
    var key: P256PrivateKey
    /// The header; `KEYID` stands for ``keyId``.
    var header = #"{"alg":"ES256","kid":"KEYID","typ":"JWT"}"#
    var audience = "appstoreconnect-v1"
    var bundleId: String? = "com.example.app"
    /// Seconds from now.
    /// Nil is left out.
    var issued: Double? = 0
    var expires = 1200.0
    /// Digits behind the seconds.
    var fraction = ""

    init() throws { key = try .generate() }

    var accepted: AcceptedKey {
        get throws { AcceptedKey(issuerId: issuerId, keyId: keyId, publicKey: try key.publicKey()) }
    }

    func text(now: Date) throws -> String {
        let seconds = now.timeIntervalSince1970
        let bid = bundleId.map { #","bid":"\#($0)""# } ?? ""
        let iat = issued.map { #","iat":\#(Int64(seconds + $0))\#(fraction)"# } ?? ""
        let claims = """
            {"iss":"\(issuerId)"\(iat),"exp":\(Int64(seconds + expires))\(fraction),\
            "aud":"\(audience)"\(bid)}
            """
        let jws = try CompactJWS.signed(
            headerJSON: Array(header.replacingOccurrences(of: "KEYID", with: keyId).utf8),
            payloadJSON: Array(claims.utf8), key: key)
        return String(decoding: jws, as: UTF8.self)
    }

    func changed(_ change: (inout FixtureToken) throws -> Void) rethrows -> FixtureToken {
        var token = self
        try change(&token)
        return token
    }
}
