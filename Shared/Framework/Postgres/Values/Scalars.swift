import struct Foundation.UUID

extension Bool: PostgresValue, PostgresElement {
    /// The type the server calls it.
    public static var postgresType: PostgresType { .bool }
    /// The type the server calls an array of it.
    public static var postgresArrayType: PostgresType { .boolArray }

    /// Appends the binary form, big-endian where it is a number.
    public func write(into bytes: inout [UInt8]) throws(PostgresError) -> Bool {
        bytes.append(self ? 1 : 0)
        return true
    }

    /// Nil where the length is wrong.
    public init?(postgres bytes: ArraySlice<UInt8>) {
        guard bytes.count == 1, let byte = bytes.first else { return nil }
        self = byte != 0
    }
}

extension Int16: PostgresValue, PostgresElement {
    /// The type the server calls it.
    public static var postgresType: PostgresType { .int16 }
    /// The type the server calls an array of it.
    public static var postgresArrayType: PostgresType { .int16Array }

    /// Appends the binary form, big-endian where it is a number.
    public func write(into bytes: inout [UInt8]) throws(PostgresError) -> Bool {
        bytes.appendBigEndian(self)
        return true
    }

    /// Nil where the length is wrong.
    public init?(postgres bytes: ArraySlice<UInt8>) {
        guard let number: Int16 = bytes.bigEndian() else { return nil }
        self = number
    }
}

extension Int32: PostgresValue, PostgresElement {
    /// The type the server calls it.
    public static var postgresType: PostgresType { .int32 }
    /// The type the server calls an array of it.
    public static var postgresArrayType: PostgresType { .int32Array }

    /// Appends the binary form, big-endian where it is a number.
    public func write(into bytes: inout [UInt8]) throws(PostgresError) -> Bool {
        bytes.appendBigEndian(self)
        return true
    }

    /// Nil where the length is wrong.
    public init?(postgres bytes: ArraySlice<UInt8>) {
        guard let number: Int32 = bytes.bigEndian() else { return nil }
        self = number
    }
}

extension Int64: PostgresValue, PostgresElement {
    /// The type the server calls it.
    public static var postgresType: PostgresType { .int64 }
    /// The type the server calls an array of it.
    public static var postgresArrayType: PostgresType { .int64Array }

    /// Appends the binary form, big-endian where it is a number.
    public func write(into bytes: inout [UInt8]) throws(PostgresError) -> Bool {
        bytes.appendBigEndian(self)
        return true
    }

    /// Nil where the length is wrong.
    public init?(postgres bytes: ArraySlice<UInt8>) {
        guard let number: Int64 = bytes.bigEndian() else { return nil }
        self = number
    }
}

extension Double: PostgresValue, PostgresElement {
    /// The type the server calls it.
    public static var postgresType: PostgresType { .double }
    /// The type the server calls an array of it.
    public static var postgresArrayType: PostgresType { .doubleArray }

    /// Appends the binary form, big-endian where it is a number.
    public func write(into bytes: inout [UInt8]) throws(PostgresError) -> Bool {
        bytes.appendBigEndian(bitPattern)
        return true
    }

    /// Nil where the length is wrong.
    public init?(postgres bytes: ArraySlice<UInt8>) {
        guard let pattern: UInt64 = bytes.bigEndian() else { return nil }
        self.init(bitPattern: pattern)
    }
}

extension UUID: PostgresValue, PostgresElement {
    /// The type the server calls it.
    public static var postgresType: PostgresType { .uuid }
    /// The type the server calls an array of it.
    public static var postgresArrayType: PostgresType { .uuidArray }

    /// Appends the binary form, big-endian where it is a number.
    public func write(into bytes: inout [UInt8]) throws(PostgresError) -> Bool {
        let (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) = uuid
        bytes.append(contentsOf: [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p])
        return true
    }

    /// Nil where the length is wrong.
    public init?(postgres bytes: ArraySlice<UInt8>) {
        guard bytes.count == 16 else { return nil }
        let b = Array(bytes)
        self.init(
            uuid: (
                b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]
            ))
    }
}
