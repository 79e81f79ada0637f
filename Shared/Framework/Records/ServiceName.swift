/// A program that writes to or reads from topics.
public struct ServiceName: Sendable, Hashable {
    /// The name of its command, such as `verifier`.
    public let name: String
    /// The consumer group in which its instances share partitions.
    public let group: String

    /// - Parameter group: of Kafka, one for each service.
    public init(_ name: String, group: String) {
        self.name = name
        self.group = group
    }
}
