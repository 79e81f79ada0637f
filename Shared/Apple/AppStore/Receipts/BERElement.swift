/// One value of ASN.1 as receipts write it (BER, X.690): where it begins and ends, and what kind it is. Nothing is trusted of
/// it but that.
///
/// Not DER alone, because receipts of the development tools have lengths that are known only at their end.
struct BERElement {
    /// The tags that a receipt has.
    enum Tag {
        static let integer: UInt8 = 0x02
        static let octets: UInt8 = 0x04
        static let identifier: UInt8 = 0x06
        static let text: UInt8 = 0x0C
        static let asciiText: UInt8 = 0x16
        static let sequence: UInt8 = 0x30
        static let set: UInt8 = 0x31
        static let explicit: UInt8 = 0xA0
    }

    /// Class, form and number, as they stand there.
    let tag: UInt8
    /// Between the header and the end.
    let content: ArraySlice<UInt8>

    /// Deeper than any receipt, and too shallow to exhaust a stack.
    private static let deepest = 16
    private static let constructed: UInt8 = 0x20

    /// The one value that these bytes are.
    init(_ bytes: ArraySlice<UInt8>) throws(ReceiptFault) {
        var rest = bytes
        self = try Self.take(from: &rest, depth: 0)
        guard rest.isEmpty else { throw .malformed("\(rest.count) bytes follow its end") }
    }

    private init(tag: UInt8, content: ArraySlice<UInt8>) {
        self.tag = tag
        self.content = content
    }

    /// The values within, where it holds any.
    func elements() throws(ReceiptFault) -> [BERElement] {
        guard tag & Self.constructed != 0 else { throw .malformed("a value is simple that should hold others") }
        var rest = content
        var elements: [BERElement] = []
        while !rest.isEmpty { elements.append(try Self.take(from: &rest, depth: 1)) }
        return elements
    }

    /// The bytes of an OCTET STRING, which may be in pieces.
    func octets(depth: Int = 0) throws(ReceiptFault) -> ArraySlice<UInt8> {
        if tag == Tag.octets { return content }
        guard tag == Tag.octets | Self.constructed, depth < Self.deepest else {
            throw .malformed("a value of tag \(tag) stands where bytes should")
        }
        var joined: [UInt8] = []
        for piece in try elements() { joined += try piece.octets(depth: depth + 1) }
        return joined[...]
    }

    /// A small number; nil for what is none, or larger than any that a receipt uses.
    var number: Int? {
        guard tag == Tag.integer, (1...4).contains(content.count), content.first.map({ $0 < 0x80 }) ?? false else {
            return nil
        }
        return content.reduce(0) { $0 << 8 | Int($1) }
    }

    /// Takes the value at the beginning off.
    private static func take(from bytes: inout ArraySlice<UInt8>, depth: Int) throws(ReceiptFault) -> BERElement {
        guard depth <= deepest else { throw .malformed("it is nested more than \(deepest) deep") }
        guard let tag = bytes.popFirst(), let first = bytes.popFirst() else { throw .cut }
        guard tag & 0x1F != 0x1F else { throw .malformed("it has a tag of several bytes") }
        if first == 0x80 { return try takeUntilEnd(from: &bytes, tag: tag, depth: depth) }
        var length = Int(first)
        if first > 0x80 {
            let count = Int(first & 0x7F)
            guard count <= 4 else { throw .malformed("a length has \(count) bytes") }
            guard bytes.count >= count else { throw .cut }
            length = bytes.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            bytes = bytes.dropFirst(count)
        }
        guard bytes.count >= length else { throw .cut }
        defer { bytes = bytes.dropFirst(length) }
        return BERElement(tag: tag, content: bytes.prefix(length))
    }

    /// Of unknown length: values up to one that is two zeros.
    private static func takeUntilEnd(
        from bytes: inout ArraySlice<UInt8>, tag: UInt8, depth: Int
    ) throws(ReceiptFault) -> BERElement {
        guard tag & constructed != 0 else { throw .malformed("a simple value has no length") }
        let whole = bytes
        while true {
            guard bytes.count >= 2 else { throw .cut }
            if bytes.starts(with: [0, 0]) { break }
            _ = try take(from: &bytes, depth: depth + 1)
        }
        defer { bytes = bytes.dropFirst(2) }
        return BERElement(tag: tag, content: whole[..<bytes.startIndex])
    }
}
