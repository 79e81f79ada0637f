/// Writes protocol buffers' wire format: the few kinds of fields that OTLP's spans have.
struct ProtobufWriter {
    private(set) var bytes: [UInt8] = []

    private enum WireType: UInt64 {
        case varint = 0
        case fixed64 = 1
        case lengthDelimited = 2
    }

    /// An integer or an enumeration; negative numbers take ten bytes, as in an `int64`.
    mutating func varint(_ field: UInt64, _ value: UInt64) {
        tag(field, .varint)
        append(varint: value)
    }

    mutating func fixed64(_ field: UInt64, _ value: UInt64) {
        tag(field, .fixed64)
        for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift))) }
    }

    mutating func data(_ field: UInt64, _ value: some Collection<UInt8>) {
        tag(field, .lengthDelimited)
        append(varint: UInt64(value.count))
        bytes += value
    }

    mutating func text(_ field: UInt64, _ value: String) { data(field, value.utf8) }

    /// A message within this one.
    mutating func message(_ field: UInt64, _ write: (inout ProtobufWriter) -> Void) {
        var inner = ProtobufWriter()
        write(&inner)
        data(field, inner.bytes)
    }

    private mutating func tag(_ field: UInt64, _ type: WireType) { append(varint: field << 3 | type.rawValue) }

    private mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
