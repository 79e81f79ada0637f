/// Network byte order, shifted by hand: no pointers are needed and the optimizer makes one instruction of it.
extension [UInt8] {
    mutating func appendBigEndian<Number: FixedWidthInteger>(_ number: Number) {
        var shift = Number.bitWidth
        while shift > 0 {
            shift -= 8
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}

extension ArraySlice<UInt8> {
    /// The whole slice as one number; nil where it has another length.
    func bigEndian<Number: FixedWidthInteger>() -> Number? {
        guard count == Number.bitWidth / 8 else { return nil }
        var number: Number = 0
        for byte in self { number = number << 8 | Number(truncatingIfNeeded: byte) }
        return number
    }

    mutating func takeBigEndian<Number: FixedWidthInteger>() -> Number? {
        guard let number: Number = prefix(Number.bitWidth / 8).bigEndian() else { return nil }
        self = dropFirst(Number.bitWidth / 8)
        return number
    }
}
