import Signatures
import StrictJSON

/// The header of a JWS: ES256, and its three certificates.
///
/// `kid`, `jku`, `jwk` and `x5u` are ignored: a key that the payload names itself proves nothing.
struct SignatureHeader {
    let leaf: [UInt8]
    let intermediate: [UInt8]
    let offeredRoot: [UInt8]

    private static let certificates = 3

    /// Reads an encoded header segment.
    init(_ segment: ArraySlice<UInt8>, policy: VerificationPolicy) throws(VerificationFailure) {
        guard let bytes = Base64.decode(segment, .url) else {
            throw VerificationFailure(.malformed, "the header is not canonical base64url")
        }
        let root: JSONValue
        do {
            root = try JSONDocument(bytes).root
        } catch {
            throw VerificationFailure(.malformed, "the header is not valid JSON: \(error)")
        }
        guard root.kind == .object else { throw VerificationFailure(.malformed, "the header is not a JSON object") }
        guard root["alg"]?.string == "ES256" else { throw VerificationFailure(.algorithm, "alg is not ES256") }
        guard root["crit"] == nil else {
            throw VerificationFailure(.algorithm, "the header has critical extensions, which Apple's do not")
        }
        guard let chain = root["x5c"], chain.kind == .array else {
            throw VerificationFailure(.malformed, "the header has no x5c array of certificates")
        }
        let entries = chain.elements
        guard entries.count == Self.certificates else {
            throw VerificationFailure(
                .chainLength, "x5c holds \(entries.count) certificates instead of \(Self.certificates)")
        }
        leaf = try Self.decode(entries[0], place: 0, policy: policy)
        intermediate = try Self.decode(entries[1], place: 1, policy: policy)
        offeredRoot = try Self.decode(entries[2], place: 2, policy: policy)
    }

    private static func decode(
        _ entry: JSONValue, place: Int, policy: VerificationPolicy
    ) throws(VerificationFailure) -> [UInt8] {
        guard let text = entry.unescapedBytes else {
            throw VerificationFailure(.certificateMalformed, "x5c[\(place)] is not a string")
        }
        guard text.count <= (policy.maximumCertificateBytes + 2) / 3 * 4 else {
            throw VerificationFailure(
                .certificateMalformed, "x5c[\(place)] is longer than \(policy.maximumCertificateBytes) bytes of DER")
        }
        guard let der = Base64.decode(text[...], .standard), der.count <= policy.maximumCertificateBytes else {
            throw VerificationFailure(.certificateMalformed, "x5c[\(place)] is not canonical base64 of a certificate")
        }
        return der
    }
}
