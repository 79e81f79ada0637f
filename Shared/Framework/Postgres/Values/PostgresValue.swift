/// Anything that can stand for a `$1`: a value, or an optional one.
public protocol PostgresParameter: Sendable {
    static var postgresType: PostgresType { get }
    /// Appends the binary form.
    /// - Returns: false where the parameter is NULL; nothing was appended then.
    func write(into bytes: inout [UInt8]) throws(PostgresError) -> Bool
}

/// A Swift value with exactly one Postgres type. Travels in binary form, so that nothing is parsed and nothing rounds.
public protocol PostgresValue: PostgresParameter {
    /// - Returns: nil where the bytes are not of this type.
    init?(postgres bytes: ArraySlice<UInt8>)
}

/// A value that can be an element of a one-dimensional array.
public protocol PostgresElement: Sendable {
    static var postgresArrayType: PostgresType { get }
    static func writeArray(_ elements: [Self], into bytes: inout [UInt8]) throws(PostgresError)
    static func readArray(_ bytes: ArraySlice<UInt8>) -> [Self]?
}

extension Optional: PostgresParameter where Wrapped: PostgresValue {
    /// That of the value, so that a NULL has a type too.
    public static var postgresType: PostgresType { Wrapped.postgresType }

    /// False for nil.
    public func write(into bytes: inout [UInt8]) throws(PostgresError) -> Bool {
        guard let self else { return false }
        return try self.write(into: &bytes)
    }
}

extension Array: PostgresParameter where Element: PostgresElement {
    /// That of the value, so that a NULL has a type too.
    public static var postgresType: PostgresType { Element.postgresArrayType }

    /// False for nil.
    public func write(into bytes: inout [UInt8]) throws(PostgresError) -> Bool {
        try Element.writeArray(self, into: &bytes)
        return true
    }
}

extension Array: PostgresValue where Element: PostgresElement {
    /// Nil where an element is not of its type, or is NULL where it must not be.
    public init?(postgres bytes: ArraySlice<UInt8>) {
        guard let elements = Element.readArray(bytes) else { return nil }
        self = elements
    }
}
