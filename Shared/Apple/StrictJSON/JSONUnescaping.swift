/// Turns the source text of a string, already validated, into its content.
enum JSONUnescaping {
    static func unescape(_ source: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var content: [UInt8] = []
        content.reserveCapacity(source.count)
        var index = 0
        while index < source.count {
            guard source[index] == UInt8(ascii: "\\") else {
                content.append(source[index])
                index += 1
                continue
            }
            let escape = source[index + 1]
            index += 2
            switch escape {
            case UInt8(ascii: "b"): content.append(0x08)
            case UInt8(ascii: "f"): content.append(0x0C)
            case UInt8(ascii: "n"): content.append(0x0A)
            case UInt8(ascii: "r"): content.append(0x0D)
            case UInt8(ascii: "t"): content.append(0x09)
            case UInt8(ascii: "u"):
                var scalar = codeUnit(source, index)
                index += 4
                if scalar & 0xFC00 == 0xD800 {
                    scalar = 0x10000 + (scalar & 0x3FF) << 10 + codeUnit(source, index + 2) & 0x3FF
                    index += 6
                }
                append(scalar, to: &content)
            default: content.append(escape)
            }
        }
        return content
    }

    static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func codeUnit(_ source: UnsafeBufferPointer<UInt8>, _ start: Int) -> UInt32 {
        (start..<start + 4).reduce(0) { $0 << 4 | UInt32(hexadecimal(source[$1]) ?? 0) }
    }

    private static func append(_ scalar: UInt32, to content: inout [UInt8]) {
        // The scan has rejected lone surrogates, so the scalar exists.
        if let scalar = Unicode.Scalar(scalar), let encoded = UTF8.encode(scalar) {
            content.append(contentsOf: encoded)
        }
    }
}
