/// Base64 in its two alphabets, canonical only: one byte string has one text and the other way round.
///
/// A decoder that forgives stray bits, white space, padding or the other alphabet would let two different texts be the
/// same signed payload; Foundation's does. Decoding takes four table lookups for three bytes and no branch per
/// character, because a notification holds about twenty kilobytes of it.
public enum Base64: Sendable {
    /// Which 64 characters, and whether `=` fills the last group.
    public enum Alphabet: Sendable {
        /// RFC 4648 section 5 without padding: segments of a JWS.
        case url
        /// RFC 4648 section 4 with padding: certificates in `x5c`.
        case standard
    }

    private static let urlTables = Tables(last: "-_")
    private static let standardTables = Tables(last: "+/")

    /// The bytes, or nil where the text is not the one canonical text of any bytes.
    public static func decode(_ text: ArraySlice<UInt8>, _ alphabet: Alphabet) -> [UInt8]? {
        var characters = text
        if alphabet == .standard {
            guard text.count % 4 == 0 else { return nil }
            let padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
            characters = text.dropLast(padding)
        }
        let tables = alphabet == .url ? urlTables : standardTables
        return characters.withUnsafeBufferPointer { tables.decode($0) }
    }

    /// The only text that decodes to the bytes.
    public static func encode(_ bytes: some Collection<UInt8>, _ alphabet: Alphabet) -> [UInt8] {
        let tables = alphabet == .url ? urlTables : standardTables
        let isPadded = alphabet == .standard
        // Arrays lend their bytes; other collections are copied into one.
        let lent = bytes.withContiguousStorageIfAvailable { tables.encode($0, isPadded: isPadded) }
        return lent ?? Array(bytes).withUnsafeBufferPointer { tables.encode($0, isPadded: isPadded) }
    }
}

extension Base64 {
    /// Four tables of what a character means at each of the four places of a group, ready to be joined by OR.
    private struct Tables: Sendable {
        /// A bit that no group of three bytes has.
        private static let invalid: UInt32 = 0x0100_0000

        let alphabet: [UInt8]
        private let values: [UInt32]

        init(last: StaticString) {
            var alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
            last.withUTF8Buffer { alphabet.append(contentsOf: $0) }
            var values = [UInt32](repeating: Self.invalid, count: 1024)
            for (value, character) in alphabet.enumerated() {
                for place in 0..<4 {
                    let group = UInt32(value) << UInt32(18 - place * 6)
                    // The first byte of the group lowest, so that one little-endian store writes all three.
                    values[place * 256 + Int(character)] = group.byteSwapped >> 8
                }
            }
            self.alphabet = alphabet
            self.values = values
        }

        func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
            let whole = text.count / 4
            let rest = text.count % 4
            guard rest != 1 else { return nil }
            let length = whole * 3 + max(0, rest - 1)
            var isValid = true
            // One byte more than the result: every group is stored as four bytes, the last of which the next overwrites.
            var bytes = [UInt8](unsafeUninitializedCapacity: length + 4) { buffer, count in
                count = length
                guard let output = UnsafeMutableRawPointer(buffer.baseAddress), let input = text.baseAddress else {
                    return
                }
                isValid = values.withUnsafeBufferPointer { table in
                    var seen: UInt32 = 0
                    for group in 0..<whole {
                        let at = group &* 4
                        let joined = Self.join(table, input[at], input[at &+ 1], input[at &+ 2], input[at &+ 3])
                        seen |= joined
                        output.storeBytes(of: joined.littleEndian, toByteOffset: group &* 3, as: UInt32.self)
                    }
                    guard rest > 0 else { return seen & Self.invalid == 0 }
                    let zero = UInt8(ascii: "A")
                    let at = whole * 4
                    let joined = Self.join(table, input[at], input[at + 1], rest == 3 ? input[at + 2] : zero, zero)
                    output.storeBytes(of: joined.littleEndian, toByteOffset: whole * 3, as: UInt32.self)
                    // Bits behind the last byte must be zero: else several texts would mean the same bytes.
                    return (seen | joined) & Self.invalid == 0 && joined >> UInt32((rest - 1) * 8) == 0
                }
            }
            guard isValid else { return nil }
            if bytes.count > length { bytes.removeLast(bytes.count - length) }
            return bytes
        }

        func encode(_ bytes: UnsafeBufferPointer<UInt8>, isPadded: Bool) -> [UInt8] {
            let rest = bytes.count % 3
            let whole = bytes.count / 3
            let length = isPadded ? (bytes.count + 2) / 3 * 4 : whole * 4 + (rest == 0 ? 0 : rest + 1)
            return [UInt8](unsafeUninitializedCapacity: length) { output, count in
                count = length
                alphabet.withUnsafeBufferPointer { characters in
                    for group in 0..<whole {
                        let at = group &* 3
                        let value =
                            UInt32(bytes[at]) << 16 | UInt32(bytes[at &+ 1]) << 8 | UInt32(bytes[at &+ 2])
                        let to = group &* 4
                        output[to] = characters[Int(value >> 18)]
                        output[to &+ 1] = characters[Int(value >> 12 & 63)]
                        output[to &+ 2] = characters[Int(value >> 6 & 63)]
                        output[to &+ 3] = characters[Int(value & 63)]
                    }
                    guard rest > 0 else { return }
                    let second = rest == 2 ? UInt32(bytes[whole * 3 + 1]) << 8 : 0
                    let value = UInt32(bytes[whole * 3]) << 16 | second
                    for place in 0..<(length - whole * 4) {
                        output[whole * 4 + place] =
                            place <= rest ? characters[Int(value >> UInt32(18 - place * 6) & 63)] : UInt8(ascii: "=")
                    }
                }
            }
        }

        @inline(__always)
        private static func join(
            _ table: UnsafeBufferPointer<UInt32>, _ one: UInt8, _ two: UInt8, _ three: UInt8, _ four: UInt8
        ) -> UInt32 {
            table[Int(one)] | table[256 &+ Int(two)] | table[512 &+ Int(three)] | table[768 &+ Int(four)]
        }
    }
}
