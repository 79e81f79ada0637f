/// The expected settings of a topic.
public struct TopicSpecification: Sendable, Hashable {
    /// Letters, digits, `.`, `_` and `-`.
    public var name: String
    /// Number of partitions; can only grow later, and growing moves keys to other partitions.
    public var partitions: Int
    /// At most the number of brokers.
    public var replicationFactor: Int
    /// The broker's names, such as `retention.ms`.
    public var configuration: [String: String]

    /// The broker checks it.
    public init(name: String, partitions: Int, replicationFactor: Int, configuration: [String: String] = [:]) {
        self.name = name
        self.partitions = partitions
        self.replicationFactor = replicationFactor
        self.configuration = configuration
    }

    /// The result of creating it.
    public enum Outcome: Sendable, Hashable {
        case created
        /// It existed, with so many partitions; nothing was changed, neither those nor its configuration.
        case exists(partitions: Int)
        case failed(KafkaError)
    }
}
