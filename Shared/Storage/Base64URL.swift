/// Base64 of the URL alphabet without padding, accepted only in the spelling that encoding would give.
enum Base64URL {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let invalid: UInt8 = 0xff
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: invalid, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()

    static func isDigit(_ byte: UInt8) -> Bool { values[Int(byte)] != invalid }

    /// - Returns: nil where encoding the result would not give these bytes again.
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 2)
        var group: UInt32 = 0
        var bits = 0
        let values = values
        for digit in text {
            let value = values[Int(digit)]
            guard value != invalid else { return nil }
            group = group << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(bits)))
            }
        }
        // Left-over bits that are not zero would be lost.
        guard group & (1 << UInt32(bits) - 1) == 0 else { return nil }
        return bytes
    }

    static func encode(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count / 3 * 4 + 4)
        var group: UInt32 = 0
        var bits = 0
        let digits = digits
        for byte in bytes {
            group = group << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(digits[Int(group >> UInt32(bits) & 0x3f)])
            }
        }
        if bits > 0 { text.append(digits[Int(group << UInt32(6 - bits) & 0x3f)]) }
        return text
    }
}
