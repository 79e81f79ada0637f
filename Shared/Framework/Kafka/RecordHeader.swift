/// A name and bytes beside a record's value.
public struct RecordHeader: Sendable, Hashable {
    /// Names may repeat within one record; Kafka keeps all of them, in order.
    public var name: String
    /// A header without a value arrives as an empty one.
    public var value: [UInt8]

    /// Any bytes will do as a value.
    public init(name: String, value: [UInt8]) {
        self.name = name
        self.value = value
    }
}
