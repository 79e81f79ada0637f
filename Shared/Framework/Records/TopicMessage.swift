/// A message type of a topic, converted to and from records.
public protocol TopicMessage: Sendable {
    /// Reads the message from a record. Throws where the record is not such a message: a fault of the record.
    init(_ record: WireRecord) throws(ContractFault)

    /// The record that carries the message.
    func record() -> WireRecord

    /// Whether the record has content that only a service of this deployment may write, so that it needs proof of its writer.
    static func needsSeal(_ record: WireRecord) -> Bool
}

extension TopicMessage {
    /// Most messages are verified by Apple's signature, or say nothing that needs it.
    public static func needsSeal(_ record: WireRecord) -> Bool { false }
}

/// Key, value and headers of a record, whatever the broker.
public struct WireRecord: Sendable, Hashable {
    /// Decides the partition; nil where any will do.
    public var key: [UInt8]?
    /// The value, as on the topic.
    public var value: [UInt8]
    /// In order; names may repeat.
    public var headers: [WireHeader]

    /// - Parameter key: nil spreads records over all partitions.
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
    /// As on the wire, such as `ce_id`.
    public var name: String
    /// The value, as on the topic.
    public var value: [UInt8]

    /// Any bytes are a valid value.
    public init(_ name: String, _ value: [UInt8]) {
        self.name = name
        self.value = value
    }

    /// A text, as UTF-8.
    public init(_ name: String, _ value: String) {
        self.init(name, Array(value.utf8))
    }
}

/// Why a record is not the message of its topic. A fault of the record, never of a dependency.
public enum ContractFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The value is not the JSON it should be.
    case notJSON(String)
    /// The message has a version that this build does not know.
    case unknownVersion(Int64)
    /// A field or header is absent or of the wrong type.
    case missing(String)

    /// One sentence.
    public var description: String {
        switch self {
        case .notJSON(let fault): "the value is not valid JSON: \(fault)"
        case .unknownVersion(let version): "message version \(version) is newer than this build; deploy the newer build"
        case .missing(let field): "\(field) is missing or of the wrong type"
        }
    }
}
