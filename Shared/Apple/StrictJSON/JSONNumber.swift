/// The number grammar of RFC 8259, and the values of numbers.
enum JSONNumber {
    /// The position behind the number that begins at `start`.
    static func end(_ base: UnsafePointer<UInt8>, from start: Int, count: Int) throws(JSONFault) -> Int {
        var position = start
        if position < count, base[position] == UInt8(ascii: "-") { position += 1 }
        guard position < count, isDigit(base[position]) else { throw .syntax(at: position) }
        if base[position] == UInt8(ascii: "0") {
            position += 1
        } else {
            position = skipDigits(base, from: position, count: count)
        }
        if position < count, base[position] == UInt8(ascii: ".") {
            position = try digits(base, from: position + 1, count: count)
        }
        if position < count, base[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            if position < count, base[position] == UInt8(ascii: "+") || base[position] == UInt8(ascii: "-") {
                position += 1
            }
            position = try digits(base, from: position, count: count)
        }
        return position
    }

    /// The value if the text is integral and fits; `1.0` and `1e3` are integral, `1.5` and 2⁶³ are nil.
    static func int64(_ text: ArraySlice<UInt8>) -> Int64? {
        if let plain = plainInteger(text) { return plain }
        guard text.contains(where: { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }) else { return nil }
        // Beyond 2⁵³ a Double could stand for a neighbour of what was written.
        guard let number = double(text), abs(number) <= 0x1p53 else { return nil }
        return Int64(exactly: number)
    }

    /// The nearest finite value; nil where the text is beyond the range of a `Double`.
    static func double(_ text: ArraySlice<UInt8>) -> Double? {
        if text.count <= 15, let plain = plainInteger(text), plain != 0 { return Double(plain) }
        guard let number = Double(String(decoding: text, as: UTF8.self)), number.isFinite else { return nil }
        return number
    }

    private static func plainInteger(_ text: ArraySlice<UInt8>) -> Int64? {
        let isNegative = text.first == UInt8(ascii: "-")
        var value: Int64 = 0
        for byte in isNegative ? text.dropFirst() : text {
            guard isDigit(byte) else { return nil }
            let (product, overflowed) = value.multipliedReportingOverflow(by: 10)
            let digit = Int64(byte - UInt8(ascii: "0"))
            // Built up on the negative side, which has room for one more than the positive.
            let (sum, overflowedAgain) = product.subtractingReportingOverflow(digit)
            if overflowed || overflowedAgain { return nil }
            value = sum
        }
        if isNegative { return value }
        return value == .min ? nil : -value
    }

    private static func digits(
        _ base: UnsafePointer<UInt8>, from start: Int, count: Int
    ) throws(JSONFault) -> Int {
        let end = skipDigits(base, from: start, count: count)
        guard end > start else { throw .syntax(at: end) }
        return end
    }

    private static func skipDigits(_ base: UnsafePointer<UInt8>, from start: Int, count: Int) -> Int {
        var position = start
        while position < count, isDigit(base[position]) { position += 1 }
        return position
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}
