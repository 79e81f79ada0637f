extension String: PostgresValue, PostgresElement {
    /// The type the server calls it.
    public static var postgresType: PostgresType { .text }
    /// The type the server calls an array of it.
    public static var postgresArrayType: PostgresType { .textArray }

    /// Refuses NUL here, because the server would refuse the whole batch for it.
    public func write(into bytes: inout [UInt8]) throws(PostgresError) -> Bool {
        guard !hasNUL else {
            throw PostgresError(
                .rejectedValue, "a text with a NUL character cannot be stored; reject it before it comes here")
        }
        bytes.append(contentsOf: utf8)
        return true
    }

    /// Looks at all bytes at once instead of stopping at the first NUL: there hardly ever is one.
    private var hasNUL: Bool {
        let least = utf8.withContiguousStorageIfAvailable { bytes in bytes.reduce(UInt8.max) { min($0, $1) } }
        return least.map { $0 == 0 } ?? utf8.contains(0)
    }

    /// Nil where the bytes are not UTF-8.
    public init?(postgres bytes: ArraySlice<UInt8>) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        self = text
    }
}

/// A document of type `json`, which keeps the text as it came; also reads `jsonb`.
///
/// A type of its own, because a `String` in its place is text and `'"a"'` and `'a'` differ.
public struct JSONText: Sendable, Hashable, PostgresValue, PostgresElement {
    /// The type the server calls it.
    public static var postgresType: PostgresType { .json }
    /// The type the server calls an array of it.
    public static var postgresArrayType: PostgresType { .jsonArray }

    /// The document as it was written, spaces included.
    public var text: String

    /// Nil where the bytes are not UTF-8.
    public init(_ text: String) { self.text = text }

    /// Appends the binary form, big-endian where it is a number.
    public func write(into bytes: inout [UInt8]) throws(PostgresError) -> Bool {
        try text.write(into: &bytes)
    }

    /// Nil where the bytes are not UTF-8.
    public init?(postgres bytes: ArraySlice<UInt8>) {
        // The binary form of jsonb is its text behind a version byte 1, with which no JSON text begins.
        guard let text = String(postgres: bytes.first == 1 ? bytes.dropFirst() : bytes) else { return nil }
        self.text = text
    }
}
