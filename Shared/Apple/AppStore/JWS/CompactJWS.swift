import Signatures
import StrictJSON

#if canImport(Glibc)
    import func Glibc.memchr
#elseif canImport(Darwin)
    import func Darwin.memchr
#endif

/// The three segments of a JWS in compact form; split, neither decoded nor verified.
///
/// Slices of the bytes it was made from: nothing is copied.
public struct CompactJWS: Sendable {
    /// Before the first dot.
    public let header: ArraySlice<UInt8>
    /// Between the dots.
    public let payload: ArraySlice<UInt8>
    /// Behind the second dot.
    public let signature: ArraySlice<UInt8>
    /// Header, dot and payload: what the signature is over.
    public let signed: ArraySlice<UInt8>

    /// Nil unless there are exactly three segments, none of them empty.
    ///
    /// The characters are looked at when a segment is decoded, and a dot among them is rejected there: only the first and
    /// the last dot are searched for.
    public init?(_ bytes: ArraySlice<UInt8>) {
        guard let first = Self.firstDot(bytes), let last = bytes.lastIndex(of: UInt8(ascii: ".")),
            first > bytes.startIndex, last > first + 1, last + 1 < bytes.endIndex
        else { return nil }
        header = bytes[..<first]
        payload = bytes[(first + 1)..<last]
        signature = bytes[(last + 1)...]
        signed = bytes[..<last]
    }

    private static func firstDot(_ bytes: ArraySlice<UInt8>) -> Int? {
        bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress, let dot = memchr(base, Int32(UInt8(ascii: ".")), buffer.count) else {
                return nil
            }
            return bytes.startIndex + (UnsafeRawPointer(dot) - base)
        }
    }
}

extension CompactJWS {
    /// Signs a payload under a header of one's own, as ES256 does whatever the header says.
    public static func signed(
        headerJSON: [UInt8], payloadJSON: [UInt8], key: P256PrivateKey
    ) throws -> [UInt8] {
        var text = Base64.encode(headerJSON, .url)
        text.append(UInt8(ascii: "."))
        text += Base64.encode(payloadJSON, .url)
        let signature = try key.signature(over: text)
        return text + [UInt8(ascii: ".")] + Base64.encode(signature, .url)
    }

    /// A header as Apple writes it: `alg` and the certificates in standard base64, leaf first.
    public static func headerJSON(x5c: [String], algorithm: String = "ES256") -> [UInt8] {
        var writer = JSONWriter(capacity: 4096)
        writer.beginObject()
        writer.member("alg", algorithm)
        writer.beginArray("x5c")
        for certificate in x5c { writer.element(certificate) }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }
}
