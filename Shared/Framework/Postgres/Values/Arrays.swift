/// The binary form of a one-dimensional array: dimensions, has-null flag, element type, length, lower bound, then each
/// element with its length, -1 for NULL.
extension PostgresElement where Self: PostgresValue {
    /// Appends the binary form of a whole array.
    public static func writeArray(_ elements: [Self], into bytes: inout [UInt8]) throws(PostgresError) {
        bytes.appendArrayHeader(count: elements.count, hasNull: false, type: postgresType)
        for element in elements { try bytes.appendElement(element) }
    }

    /// Decodes an array; nil where the bytes are none of this type.
    public static func readArray(_ bytes: ArraySlice<UInt8>) -> [Self]? {
        guard let spans = bytes.arrayElements(of: postgresType) else { return nil }
        var elements: [Self] = []
        elements.reserveCapacity(spans.count)
        for span in spans {
            guard let span, let element = Self(postgres: span) else { return nil }
            elements.append(element)
        }
        return elements
    }
}

extension Optional: PostgresElement where Wrapped: PostgresValue & PostgresElement {
    /// The type the server calls an array of it.
    public static var postgresArrayType: PostgresType { Wrapped.postgresArrayType }

    /// Appends the binary form of a whole array.
    public static func writeArray(_ elements: [Wrapped?], into bytes: inout [UInt8]) throws(PostgresError) {
        bytes.appendArrayHeader(
            count: elements.count, hasNull: elements.contains { $0 == nil }, type: Wrapped.postgresType)
        for element in elements { try bytes.appendElement(element) }
    }

    /// Decodes an array; nil where the bytes are none of this type.
    public static func readArray(_ bytes: ArraySlice<UInt8>) -> [Wrapped?]? {
        guard let spans = bytes.arrayElements(of: Wrapped.postgresType) else { return nil }
        var elements: [Wrapped?] = []
        elements.reserveCapacity(spans.count)
        for span in spans {
            guard let span else {
                elements.append(nil)
                continue
            }
            guard let element = Wrapped(postgres: span) else { return nil }
            elements.append(element)
        }
        return elements
    }
}

/// A byte is no Postgres type; an array of bytes is `bytea`.
extension UInt8: PostgresElement {
    /// The type the server calls an array of it.
    public static var postgresArrayType: PostgresType { .bytes }

    /// Appends the binary form of a whole array.
    public static func writeArray(_ elements: [UInt8], into bytes: inout [UInt8]) throws(PostgresError) {
        bytes.append(contentsOf: elements)
    }

    /// Decodes an array; nil where the bytes are none of this type.
    public static func readArray(_ bytes: ArraySlice<UInt8>) -> [UInt8]? { Array(bytes) }
}

/// `bytea[]`.
extension Array: PostgresElement where Element == UInt8 {
    /// The type the server calls an array of it.
    public static var postgresArrayType: PostgresType { .bytesArray }
}

extension [UInt8] {
    fileprivate mutating func appendArrayHeader(count: Int, hasNull: Bool, type: PostgresType) {
        appendBigEndian(Int32(count == 0 ? 0 : 1))
        appendBigEndian(Int32(hasNull ? 1 : 0))
        appendBigEndian(type.oid)
        guard count > 0 else { return }
        appendBigEndian(Int32(clamping: count))
        appendBigEndian(Int32(1))
    }

    fileprivate mutating func appendElement(_ element: some PostgresParameter) throws(PostgresError) {
        let start = count
        appendBigEndian(Int32(-1))
        guard try element.write(into: &self) else { return }
        let length = UInt32(clamping: count - start - 4)
        for index in 0..<4 { self[start + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32(index))) }
    }
}

extension ArraySlice<UInt8> {
    /// The elements' bytes; nil for an array of other elements, of more dimensions, or cut short.
    fileprivate func arrayElements(of type: PostgresType) -> [ArraySlice<UInt8>?]? {
        var rest = self
        guard let dimensions: Int32 = rest.takeBigEndian(), let _: Int32 = rest.takeBigEndian(),
            let oid: UInt32 = rest.takeBigEndian(), type.reads(PostgresType(oid))
        else { return nil }
        guard dimensions != 0 else { return [] }
        guard dimensions == 1, let count: Int32 = rest.takeBigEndian(), count >= 0,
            let _: Int32 = rest.takeBigEndian()
        else { return nil }
        var elements: [ArraySlice<UInt8>?] = []
        elements.reserveCapacity(Int(count))
        for _ in 0..<count {
            guard let length: Int32 = rest.takeBigEndian() else { return nil }
            guard length >= 0 else {
                elements.append(nil)
                continue
            }
            guard rest.count >= Int(length) else { return nil }
            elements.append(rest.prefix(Int(length)))
            rest = rest.dropFirst(Int(length))
        }
        return rest.isEmpty ? elements : nil
    }
}
