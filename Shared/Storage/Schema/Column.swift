import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// One column of a table and the property of `Root` that it holds. Its name in every statement, its parameter and its
/// decoding come from this one declaration.
struct Column<Root: Sendable>: Sendable {
    let name: String
    /// The expression in a select list.
    let selected: String
    /// The SQL type of an array of values, for `unnest`.
    fileprivate let arrayType: String
    fileprivate let parameter: @Sendable ([Root?]) -> any PostgresParameter
    fileprivate let read: @Sendable (Row, Int, inout Root) throws -> Void
    fileprivate let fault: @Sendable (Root) -> String?

    /// A column that may be NULL.
    init<Value: ColumnValue>(_ name: StaticString, _ path: any WritableKeyPath<Root, Value?> & Sendable) {
        self.init(name, as: Value.self, get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
    }

    /// A column that is never NULL.
    init<Value: ColumnValue>(_ name: StaticString, _ path: any WritableKeyPath<Root, Value> & Sendable) {
        self.init(
            name, as: Value.self, get: { $0[keyPath: path] },
            set: { root, value in if let value { root[keyPath: path] = value } })
    }

    /// A text that is a UUID, lower case in memory: in a column of type `uuid` every spelling finds it.
    init(uuid name: StaticString, _ path: any WritableKeyPath<Root, String?> & Sendable) {
        self.init(
            name, as: UUID.self, get: { $0[keyPath: path].flatMap { UUID(uuidString: $0) } },
            set: { $0[keyPath: path] = $1?.uuidString.lowercased() })
    }

    /// A text that is JSON.
    init(json name: StaticString, _ path: any WritableKeyPath<Root, String?> & Sendable) {
        self.init(
            name, as: JSONText.self, get: { $0[keyPath: path].map { JSONText($0) } },
            set: { $0[keyPath: path] = $1?.text })
    }

    /// A column without a key path.
    init<Value: ColumnValue>(
        _ name: StaticString, as type: Value.Type, get: @escaping @Sendable (Root) -> Value?,
        set: @escaping @Sendable (inout Root, Value?) -> Void
    ) {
        self.name = "\(name)"
        selected = Value.sqlCast == nil ? "\(name)" : "\(name)::\(Value.sqlType) as \(name)"
        arrayType = "\(Value.sqlType)[]" + (Value.sqlCast.map { "::\($0)[]" } ?? "")
        parameter = { roots in roots.map { $0.flatMap { get($0)?.stored } } }
        read = { row, place, root in
            set(&root, try row.optional(at: place, as: Value.Stored.self).map { try Value(stored: $0) })
        }
        fault = { get($0)?.fault }
    }
}

/// A Swift type that a column holds.
protocol ColumnValue: Sendable {
    associatedtype Stored: PostgresValue & PostgresElement
    /// The SQL type of parameters and results.
    static var sqlType: String { get }
    /// The SQL type of the column, where it differs from ``sqlType``.
    static var sqlCast: String? { get }
    var stored: Stored { get }
    init(stored: Stored) throws
    /// Why the database cannot store the value; nil where it can.
    var fault: String? { get }
}

extension ColumnValue {
    static var sqlCast: String? { nil }
    var fault: String? { nil }
}

extension ColumnValue where Stored == Self {
    var stored: Self { self }
    init(stored: Self) { self = stored }
}

extension String: ColumnValue {
    static var sqlType: String { "text" }
    var fault: String? { utf8.contains(0) ? Self.nulFault : nil }
    static var nulFault: String { "a text with a NUL character cannot be stored" }
}

extension Date: ColumnValue {
    static var sqlType: String { "timestamptz" }
    var fault: String? {
        do throws(PostgresError) {
            _ = try atPostgresPrecision()
            return nil
        } catch { return error.message }
    }
}

extension JSONText: ColumnValue { static var sqlType: String { "json" } }
extension Bool: ColumnValue { static var sqlType: String { "boolean" } }
extension Int16: ColumnValue { static var sqlType: String { "smallint" } }
extension Int32: ColumnValue { static var sqlType: String { "integer" } }
extension Int64: ColumnValue { static var sqlType: String { "bigint" } }
extension UUID: ColumnValue { static var sqlType: String { "uuid" } }

extension Int: ColumnValue {
    static var sqlType: String { "bigint" }
    var stored: Int64 { Int64(self) }
    init(stored: Int64) { self.init(clamping: stored) }
}

extension StoreEnvironment: ColumnValue {
    static var sqlType: String { "text" }
    static var sqlCast: String? { "store_environment" }
    var stored: String { rawValue }
    init(stored: String) throws {
        guard let environment = StoreEnvironment(rawValue: stored) else { throw UnknownEnvironment(name: stored) }
        self = environment
    }
}

/// A newer build wrote an environment that this build does not know.
struct UnknownEnvironment: Error, CustomStringConvertible {
    let name: String
    var description: String {
        "the database holds the environment “\(name)”, which this build does not know; use a newer build"
    }
}

extension Array {
    /// `a, b, c`
    func names<Root>() -> String where Element == Column<Root> { map(\.name).joined(separator: ", ") }

    /// `a, b, c`, with the casts of a select list.
    func selected<Root>() -> String where Element == Column<Root> { map(\.selected).joined(separator: ", ") }

    /// `$3::text[], $4::bigint[]`, for `unnest`.
    func placeholders<Root>(from first: Int = 1) -> String where Element == Column<Root> {
        enumerated().map { "$\($0 + first)::\($1.arrayType)" }.joined(separator: ", ")
    }

    /// `a = excluded.a, b = excluded.b`, for an upsert.
    func overwriting<Root>(by source: String = "excluded") -> String where Element == Column<Root> {
        map { "\($0.name) = \(source).\($0.name)" }.joined(separator: ", ")
    }

    /// An array for each column, for `unnest`.
    func parameters<Root>(of rows: [Root?]) -> [any PostgresParameter] where Element == Column<Root> {
        map { $0.parameter(rows) }
    }

    /// Why the database cannot store a root, with the name of the column; nil where it can.
    func fault<Root>(of root: Root) -> String? where Element == Column<Root> {
        for column in self {
            if let fault = column.fault(root) { return "\(column.name): \(fault)" }
        }
        return nil
    }

    /// A root from the columns of a row.
    /// - Parameters:
    ///   - empty: the value whose properties are set.
    ///   - first: the index of the first column of this list in the row.
    func read<Root>(_ row: Row, into empty: Root, from first: Int = 0) throws -> Root where Element == Column<Root> {
        var root = empty
        for (place, column) in enumerated() { try column.read(row, first + place, &root) }
        return root
    }
}
