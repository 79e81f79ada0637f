import Records

import struct Foundation.Date
import struct Foundation.UUID
import typealias Foundation.uuid_t

/// Writes the fields of a binary value.
struct ValueWriter {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    mutating func append(contentsOf more: [UInt8]) { bytes.append(contentsOf: more) }

    mutating func append(_ uuid: UUID) { withUnsafeBytes(of: uuid.uuid) { bytes.append(contentsOf: $0) } }

    mutating func append(_ integer: Int64) {
        withUnsafeBytes(of: integer.bigEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(optional integer: Int64?) {
        bytes.append(integer == nil ? 0 : 1)
        if let integer { append(integer) }
    }

    mutating func append(count: Int) { bytes.append(varint: count) }

    mutating func append(counted more: [UInt8]) {
        append(count: more.count)
        append(contentsOf: more)
    }

    mutating func append(_ text: String) {
        append(count: text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    mutating func append(optional text: String?) {
        append(count: text.map { $0.utf8.count + 1 } ?? 0)
        if let text { bytes.append(contentsOf: text.utf8) }
    }

    mutating func append(optionalBytes more: [UInt8]?) {
        append(count: more.map { $0.count + 1 } ?? 0)
        if let more { append(contentsOf: more) }
    }
}

/// Reads what ``ValueWriter`` wrote. Any other bytes throw a fault that names the field.
struct ValueReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ value: [UInt8]) { rest = value[...] }

    /// Reads the version, the same in every value of this build.
    mutating func version() throws(ContractFault) {
        guard let found = rest.popFirst() else { throw .missing("version") }
        guard found == VerifiedValue.version else { throw .unknownVersion(Int64(found)) }
    }

    mutating func uuid(_ field: String) throws(ContractFault) -> UUID {
        let bytes = try take(16, field)
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    mutating func integer(_ field: String) throws(ContractFault) -> Int64 {
        try take(8, field).withUnsafeBytes { Int64(bigEndian: $0.loadUnaligned(as: Int64.self)) }
    }

    mutating func date(_ field: String) throws(ContractFault) -> Date {
        guard let date = Date(recorded: try integer(field)) else { throw .missing(field) }
        return date
    }

    mutating func optionalInteger(_ field: String) throws(ContractFault) -> Int64? {
        switch rest.popFirst() {
        case 0: return nil
        case 1: return try integer(field)
        default: throw .missing(field)
        }
    }

    mutating func count(_ field: String) throws(ContractFault) -> Int {
        guard let count = rest.popVarint() else { throw .missing(field) }
        return count
    }

    mutating func counted(_ field: String) throws(ContractFault) -> ArraySlice<UInt8> {
        try take(try count(field), field)
    }

    mutating func optionalBytes(_ field: String) throws(ContractFault) -> [UInt8]? {
        let count = try count(field)
        return count == 0 ? nil : Array(try take(count - 1, field))
    }

    mutating func text(_ field: String) throws(ContractFault) -> String {
        try Self.text(try counted(field), field)
    }

    mutating func optionalText(_ field: String) throws(ContractFault) -> String? {
        let count = try count(field)
        return count == 0 ? nil : try Self.text(try take(count - 1, field), field)
    }

    mutating func source() throws(ContractFault) -> NotificationSource {
        guard let source = NotificationSource(rawValue: try text("source")) else { throw .missing("source") }
        return source
    }

    private static func text(_ bytes: ArraySlice<UInt8>, _ field: String) throws(ContractFault) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .missing(field) }
        return text
    }

    private mutating func take(_ count: Int, _ field: String) throws(ContractFault) -> ArraySlice<UInt8> {
        guard count <= rest.count else { throw .missing(field) }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}
