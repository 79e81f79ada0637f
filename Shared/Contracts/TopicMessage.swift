/// A message type of a topic. One function crosses the border in each direction.
public protocol TopicMessage: Sendable {
    /// Reads the message off a record. Throws where the record is not such a message: a fault of the record.
    init(_ record: WireRecord) throws(ContractFault)

    /// The record that carries the message.
    func record() -> WireRecord

    /// Whether the record says something that only a service of ours may say, so that it needs proof of its writer.
    static func needsSeal(_ record: WireRecord) -> Bool
}

extension TopicMessage {
    /// Most messages carry their own proof, or nothing that is believed.
    public static func needsSeal(_ record: WireRecord) -> Bool { false }
}

/// Key, value and headers of a record, whatever the broker.
public struct WireRecord: Sendable, Hashable {
    /// What decides the partition.
    public var key: [UInt8]?
    /// The bytes.
    public var value: [UInt8]
    /// In order; names may repeat.
    public var headers: [WireHeader]

    /// All fields.
    public init(key: [UInt8]? = nil, value: [UInt8], headers: [WireHeader] = []) {
        self.key = key
        self.value = value
        self.headers = headers
    }

    /// The text of the last header of that name, which is the one that counts where a name repeats.
    public func header(_ name: String) -> String? {
        headers.last { $0.name == name }.map { String(decoding: $0.value, as: UTF8.self) }
    }
}

/// One header of a record. Names may repeat.
public struct WireHeader: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The bytes.
    public var value: [UInt8]

    /// All fields.
    public init(_ name: String, _ value: [UInt8]) {
        self.name = name
        self.value = value
    }

    /// All fields.
    public init(_ name: String, _ value: String) {
        self.init(name, Array(value.utf8))
    }
}

/// Why a record is not the message its topic promises. A fault of the record, never of the world.
public enum ContractFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The value is not the JSON it should be.
    case notJSON(String)
    /// The message is of a version this build does not know.
    case unknownVersion(Int64)
    /// A field or header is absent or of the wrong type.
    case missing(String)

    /// For people.
    public var description: String {
        switch self {
        case .notJSON(let fault): "the value is not valid JSON: \(fault)"
        case .unknownVersion(let version): "message version \(version) is newer than this build; deploy the newer build"
        case .missing(let field): "\(field) is missing or of the wrong type"
        }
    }
}
