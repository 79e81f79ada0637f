import AppStore
import Signatures

/// A signed notification without the header that its signatures share: three kilobytes instead of twenty.
///
/// The header with its certificates occurs in it three times, twice encoded twice. It is left out and inserted again when the
/// payload is sent or answered; the bytes are the same each time, and nothing is signed again.
struct SealedPayload: Sendable, Equatable {
    /// The placeholder for the header of a signed object.
    private static let mark = UInt8(ascii: "~")
    /// How members with signed objects begin. It cannot occur inside a value, where quotes are escaped.
    private static let lead = Array(#"Info":""#.utf8)

    /// The encoded header of all of its signatures.
    let header: [UInt8]
    /// JSON, with the placeholder instead of the header in the signed objects.
    let claims: [UInt8]
    /// Encoded.
    private(set) var signature: [UInt8]

    /// Signs.
    /// - Parameter claims: JSON whose signed objects were ``shortened(_:by:)``.
    init(claims: [UInt8], signer: PayloadSigner) throws {
        header = signer.headerSegment
        self.claims = claims
        signature = []
        let jws = try signer.sign(Self.expanded(claims, header: header))
        guard let parts = CompactJWS(jws[...]) else {
            throw SimulatorError("the signer returned something that is not a JWS")
        }
        signature = Array(parts.signature)
    }

    /// A signed object with the placeholder instead of its header.
    static func shortened(_ jws: [UInt8], by signer: PayloadSigner) -> [UInt8] {
        [mark] + jws.dropFirst(signer.headerSegment.count)
    }

    /// These claims under the signature of others.
    func bearingSignature(of other: SealedPayload) -> SealedPayload {
        var forged = self
        forged.signature = other.signature
        return forged
    }

    /// The compact JWS.
    var jws: [UInt8] {
        let payload = Base64.encode(Self.expanded(claims, header: header), .url)
        var text: [UInt8] = []
        text.reserveCapacity(header.count + payload.count + signature.count + 2)
        text += header
        text.append(UInt8(ascii: "."))
        text += payload
        text.append(UInt8(ascii: "."))
        text += signature
        return text
    }

    private static func expanded(_ claims: [UInt8], header: [UInt8]) -> [UInt8] {
        var json: [UInt8] = []
        json.reserveCapacity(claims.count + 2 * header.count)
        var rest = claims[...]
        while let place = rest.firstIndex(of: mark) {
            json += rest[..<place]
            if json.suffix(lead.count) == lead[...] { json += header } else { json.append(mark) }
            rest = rest[(place + 1)...]
        }
        return json + rest
    }
}
