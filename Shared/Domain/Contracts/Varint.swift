extension [UInt8] {
    /// Appends a number with seven bits per byte, lowest first; the highest bit of a byte says that another follows.
    mutating func append(varint number: Int) {
        var rest = UInt(number)
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }
}

extension ArraySlice<UInt8> {
    /// Removes a number that `append(varint:)` wrote; nil where the bytes end before the number does.
    mutating func popVarint() -> Int? {
        var number = 0
        // Eight bytes hold 56 bits: enough for any length, without overflow.
        for shift in stride(from: 0, to: 56, by: 7) {
            guard let byte = popFirst() else { break }
            number |= Int(byte & 0x7f) << shift
            if byte & 0x80 == 0 { return number }
        }
        return nil
    }
}
