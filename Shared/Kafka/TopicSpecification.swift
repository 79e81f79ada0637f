/// A topic as it shall be.
public struct TopicSpecification: Sendable, Hashable {
    public var name: String
    public var partitions: Int
    /// At most the number of brokers.
    public var replicationFactor: Int
    /// The broker's names, such as `retention.ms`.
    public var configuration: [String: String]

    public init(name: String, partitions: Int, replicationFactor: Int, configuration: [String: String] = [:]) {
        self.name = name
        self.partitions = partitions
        self.replicationFactor = replicationFactor
        self.configuration = configuration
    }

    /// What became of the wish to have it.
    public enum Outcome: Sendable, Hashable {
        case created
        /// It was there already, with so many partitions; nothing was changed, neither those nor its configuration.
        case exists(partitions: Int)
        case failed(KafkaError)
    }
}
