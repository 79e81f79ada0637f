/// What a statement gave back. Copied out of libpq, so that it may travel and needs no owner.
public struct Rows: Sendable {
    /// Rows inserted, updated or deleted; the number of rows for a query.
    public let affected: Int
    let columns: [Column]
    /// All cells behind each other; a span per cell, row by row, nil for NULL.
    let bytes: [UInt8]
    let spans: [Range<Int>?]

    struct Column: Sendable {
        var name: String
        var type: PostgresType
    }
}

extension Rows: RandomAccessCollection {
    /// Always 0.
    public var startIndex: Int { 0 }
    /// The number of rows.
    public var endIndex: Int { columns.isEmpty ? 0 : spans.count / columns.count }

    /// A row by its number, counted from 0.
    public subscript(position: Int) -> Row { Row(rows: self, index: position) }
}

/// One row of `Rows`.
public struct Row: Sendable {
    let rows: Rows
    let index: Int

    /// The value of a column that is never NULL.
    /// - Throws: `.programming` where the statement has no such column, it has another type, or it is NULL.
    public func value<Value: PostgresValue>(
        _ column: String, as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value {
        try value(at: try position(of: column), as: type)
    }

    /// The value of a column that may be NULL.
    public func optional<Value: PostgresValue>(
        _ column: String, as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value? {
        try optional(at: try position(of: column), as: type)
    }

    /// A column by position, counted from 0: for loops over very many rows.
    public func value<Value: PostgresValue>(
        at position: Int, as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value {
        guard let value = try optional(at: position, as: type) else {
            throw PostgresError(.programming, "column “\(rows.columns[position].name)” is NULL where it must not be")
        }
        return value
    }

    /// A column by position, counted from 0.
    public func optional<Value: PostgresValue>(
        at position: Int, as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value? {
        guard rows.columns.indices.contains(position) else {
            throw PostgresError(.programming, "the statement has \(rows.columns.count) columns, none at \(position)")
        }
        let column = rows.columns[position]
        guard Value.postgresType.reads(column.type) else {
            throw PostgresError(
                .programming,
                "column “\(column.name)” has type \(column.type.oid), which is not a \(Value.self); "
                    + "cast it in the statement")
        }
        guard let span = rows.spans[index * rows.columns.count + position] else { return nil }
        guard let value = Value(postgres: rows.bytes[span]) else {
            throw PostgresError(.programming, "column “\(column.name)” holds bytes that are not a \(Value.self)")
        }
        return value
    }

    private func position(of name: String) throws(PostgresError) -> Int {
        guard let position = rows.columns.firstIndex(where: { $0.name == name }) else {
            let names = rows.columns.map(\.name).joined(separator: ", ")
            throw PostgresError(.programming, "the statement has no column “\(name)”, only \(names)")
        }
        return position
    }
}
