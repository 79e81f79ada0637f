/// The signed original of a notification in a compact form, restorable byte for byte.
///
/// Of 20 KB per notification 17 are copies of one header segment (the certificate chain), and the rest is base64 inside
/// base64. The compact form refers to a header once and holds payloads decoded. Bytes that would not be restored exactly
/// (base64 that is not canonical, or no JWS at all) are stored verbatim.
public struct SignedOriginal: Sendable, Hashable {
    /// A format byte, then the verbatim bytes or the compact form.
    public var blob: [UInt8]
    /// The long header segments, as text, each once, in the order the blob refers to them.
    public var headers: [[UInt8]]

    /// An original as read from the database.
    public init(blob: [UInt8], headers: [[UInt8]]) {
        self.blob = blob
        self.headers = headers
    }

    /// Packs the bytes of a compact JWS; any other bytes are accepted as well.
    public init(encoding original: [UInt8]) {
        var writer = SignedOriginalWriter()
        if writer.append(jws: original[...], depth: 0) {
            let packed = SignedOriginal(blob: writer.bytes, headers: writer.headers)
            if let restored = try? packed.original(), restored[...].isSame(as: original[...]) {
                self = packed
                return
            }
        }
        self.init(blob: [SignedOriginalFormat.verbatim] + original, headers: [])
    }

    /// Whether there are no signed bytes, as with a notification of version 1, which has no signature.
    public var isEmpty: Bool { blob.count < 2 }

    /// The stored bytes are not in the format that this type writes.
    public struct Damage: Error, CustomStringConvertible {
        /// What failed, in one sentence.
        public let description: String
    }

    /// The original, byte for byte.
    public func original() throws(Damage) -> [UInt8] {
        switch blob.first {
        case SignedOriginalFormat.verbatim: return Array(blob.dropFirst())
        case SignedOriginalFormat.compact:
            var reader = SignedOriginalReader(rest: blob.dropFirst(), headers: headers)
            let original = try reader.jws(depth: 0)
            guard reader.rest.isEmpty else { throw Damage(description: "the stored original has trailing bytes") }
            return original
        default: throw Damage(description: "the stored original has an unknown format; use a newer build")
        }
    }
}

extension SignedOriginal {
    /// The JSON that was signed, each nested JWS replaced, its quotation marks included, by the JSON that it signs; nil where the
    /// bytes are kept verbatim.
    ///
    /// Reads all of the blob, so what this reads ``original()`` can restore.
    func document() throws(Damage) -> [UInt8]? {
        guard blob.first == SignedOriginalFormat.compact else {
            _ = try original()
            return nil
        }
        var reader = SignedOriginalReader(rest: blob.dropFirst(), headers: headers)
        let document = try reader.document(depth: 0)
        guard reader.rest.isEmpty else { throw Damage(description: "the stored original has trailing bytes") }
        return document
    }
}

extension SignedOriginal {
    /// The headers of many originals, each once. Compared rather than hashed, because a batch has one or two.
    package static func distinctHeaders(of originals: [SignedOriginal]) -> [[UInt8]] {
        var distinct: [[UInt8]] = []
        for original in originals {
            for header in original.headers where distinct.place(of: header[...]) == nil { distinct.append(header) }
        }
        return distinct
    }
}

extension [[UInt8]] {
    /// The index of the first occurrence of a byte.
    package func place(of header: ArraySlice<UInt8>) -> Int? { firstIndex { $0[...].isSame(as: header) } }
}

extension ArraySlice<UInt8> {
    /// Whether the bytes are equal. `==` compares them one by one, which takes ten times as long for the 40 KB that are
    /// compared per notification.
    func isSame(as other: ArraySlice<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBufferPointer { mine in
            other.withUnsafeBufferPointer { others in
                var difference: UInt8 = 0
                for index in 0..<mine.count { difference |= mine[index] ^ others[index] }
                return difference == 0
            }
        }
    }
}

enum SignedOriginalFormat {
    static let verbatim: UInt8 = 0
    static let compact: UInt8 = 1
    /// Bytes. A shorter header costs less than a reference and its look-up.
    static let shortestSharedHeader = 200
    /// The maximum nesting: the envelope, and the signed objects in it.
    static let deepest = 2
}
