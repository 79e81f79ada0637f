/// Walks one string to its closing quote and refuses what must not be in it.
///
/// Sixteen bytes at a time while they are plain ASCII, which a signed payload of kilobytes is to its end.
struct JSONStringScan {
    let base: UnsafePointer<UInt8>
    let count: Int
    /// First byte behind the opening quote at the start, first byte behind the closing quote at the end.
    var position: Int
    var isEscaped = false

    init(_ base: UnsafePointer<UInt8>, count: Int, position: Int) {
        self.base = base
        self.count = count
        self.position = position
    }

    mutating func run() throws(JSONFault) {
        while true {
            skipPlainBlocks()
            guard position < count else { throw .syntax(at: position) }
            let byte = base[position]
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"):
                isEscaped = true
                try skipEscape()
            case 0:
                throw .nul(at: position)
            case 0x01..<0x20:
                throw .syntax(at: position)
            case 0x20..<0x80:
                position += 1
            default:
                position += try scalarLength(lead: byte)
            }
        }
    }

    /// Moves over whole blocks that hold no quote, no backslash, no control character and nothing beyond ASCII.
    private mutating func skipPlainBlocks() {
        let raw = UnsafeRawPointer(base)
        let quote = SIMD16<UInt8>(repeating: UInt8(ascii: "\""))
        let backslash = SIMD16<UInt8>(repeating: UInt8(ascii: "\\"))
        // As signed numbers, everything below a space is a control character or not ASCII.
        let space = SIMD16<Int8>(repeating: 0x20)
        while position + 16 <= count {
            let block = raw.loadUnaligned(fromByteOffset: position, as: SIMD16<UInt8>.self)
            let signed = SIMD16<Int8>(truncatingIfNeeded: block)
            let special = (block .== quote) .| (block .== backslash) .| (signed .< space)
            let marks = unsafeBitCast(
                SIMD16<UInt8>(repeating: 0).replacing(with: 0xFF, where: special), to: SIMD2<UInt64>.self)
            if marks.x != 0 {
                position += marks.x.trailingZeroBitCount / 8
                return
            }
            if marks.y != 0 {
                position += 8 + marks.y.trailingZeroBitCount / 8
                return
            }
            position += 16
        }
    }

    private mutating func skipEscape() throws(JSONFault) {
        guard position + 1 < count else { throw .syntax(at: count) }
        switch base[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 2
        case UInt8(ascii: "u"):
            let unit = try codeUnit(at: position)
            switch unit {
            case 0:
                throw .nul(at: position)
            case 0xD800..<0xDC00:
                guard position + 7 < count, base[position + 6] == UInt8(ascii: "\\"),
                    base[position + 7] == UInt8(ascii: "u"),
                    case 0xDC00..<0xE000 = try codeUnit(at: position + 6)
                else { throw .encoding(at: position) }
                position += 12
            case 0xDC00..<0xE000:
                throw .encoding(at: position)
            default:
                position += 6
            }
        default:
            throw .syntax(at: position + 1)
        }
    }

    /// The four hexadecimal digits of the escape that begins at `start`.
    private func codeUnit(at start: Int) throws(JSONFault) -> UInt16 {
        var unit: UInt16 = 0
        for index in (start + 2)..<(start + 6) {
            guard index < count, let digit = JSONUnescaping.hexadecimal(base[index]) else { throw .syntax(at: index) }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    /// The length of the scalar that begins here, by the table of well-formed byte sequences of the Unicode standard.
    private func scalarLength(lead: UInt8) throws(JSONFault) -> Int {
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch lead {
        case 0xC2...0xDF: length = 2
        case 0xE0:
            length = 3
            second = 0xA0...0xBF
        case 0xED:
            length = 3
            second = 0x80...0x9F
        case 0xE1...0xEF: length = 3
        case 0xF0:
            length = 4
            second = 0x90...0xBF
        case 0xF1...0xF3: length = 4
        case 0xF4:
            length = 4
            second = 0x80...0x8F
        default: throw .encoding(at: position)
        }
        guard position + length <= count, second.contains(base[position + 1]) else { throw .encoding(at: position) }
        for index in (position + 2)..<(position + max(length, 2)) where base[index] & 0xC0 != 0x80 {
            throw .encoding(at: position)
        }
        return length
    }
}
