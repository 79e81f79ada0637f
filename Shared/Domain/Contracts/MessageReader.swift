import Records
import StrictJSON

import struct Foundation.Date
import struct Foundation.UUID

/// Reads the fields of a versioned JSON message.
struct MessageReader {
    private let root: JSONValue

    /// - Parameter version: the newest version this build knows.
    init(_ value: [UInt8], version: Int64) throws(ContractFault) {
        do throws(JSONFault) {
            // Apple's payload may be 16 deep, its nested objects 16 more, and both are inside one object.
            root = try JSONDocument(value, limits: JSONLimits(depth: 40)).root
        } catch {
            throw .notJSON("\(error)")
        }
        let found = try integer("version")
        guard found <= version else { throw .unknownVersion(found) }
    }

    subscript(_ field: String) -> JSONValue? { root[field] }

    func string(_ field: String) throws(ContractFault) -> String {
        guard let string = root[field]?.string else { throw .missing(field) }
        return string
    }

    func integer(_ field: String) throws(ContractFault) -> Int64 {
        guard let integer = root[field]?.int64 else { throw .missing(field) }
        return integer
    }

    func date(_ field: String) throws(ContractFault) -> Date {
        guard let date = Date(recorded: try integer(field)) else { throw .missing(field) }
        return date
    }

    /// A text that is part of a key of the database, where an index row has a maximum size.
    func key(_ field: String) throws(ContractFault) -> String {
        let key = try string(field)
        guard key.utf8.count <= 512 else { throw .missing(field) }
        return key
    }

    func environment() throws(ContractFault) -> StoreEnvironment {
        guard let environment = StoreEnvironment(rawValue: try string("environment")) else {
            throw .missing("environment")
        }
        return environment
    }

    func uuid(_ field: String) throws(ContractFault) -> UUID {
        guard let uuid = UUID(uuidString: try string(field)) else { throw .missing(field) }
        return uuid
    }
}
