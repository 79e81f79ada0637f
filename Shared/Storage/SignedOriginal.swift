/// The signed original of a notification in its compact form, restorable byte for byte.
///
/// Of the 20 KB that arrive 17 are copies of one header segment (the certificate chain), and the rest is base64 inside
/// base64. Here a header stands once, by reference, and payloads stand decoded. What does not come back exactly (a
/// spelling of base64 that is not canonical, not a JWS at all) is kept verbatim.
public struct SignedOriginal: Sendable, Equatable {
    /// A format byte, then the verbatim bytes or the compact form.
    public var blob: [UInt8]
    /// The long header segments, as text, each once, in the order the blob refers to them.
    public var headers: [[UInt8]]

    /// As the database gave it back.
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

    /// What was stored is not what this type writes.
    public struct Damage: Error, CustomStringConvertible {
        /// What happened and what to do, in one sentence.
        public let description: String
    }

    /// The original, exactly.
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
    /// The headers of many originals, each once. Compared rather than hashed, because a batch has one or two.
    static func distinctHeaders(of originals: [SignedOriginal]) -> [[UInt8]] {
        var distinct: [[UInt8]] = []
        for original in originals {
            for header in original.headers where distinct.place(of: header[...]) == nil { distinct.append(header) }
        }
        return distinct
    }
}

extension [[UInt8]] {
    /// Where the first of these bytes stands.
    func place(of header: ArraySlice<UInt8>) -> Int? { firstIndex { $0[...].isSame(as: header) } }
}

extension ArraySlice<UInt8> {
    /// Whether the bytes are the same; `==` stops at the first difference and so looks at them one by one, which for the
    /// 40 KB that are compared per notification takes ten times as long.
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
    /// Shorter headers cost less than a reference and the lookup behind it.
    static let shortestSharedHeader = 200
    /// The envelope, and what is signed inside of it.
    static let deepest = 2
}
