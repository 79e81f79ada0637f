/// The actual settings of a topic.
public struct TopicState: Sendable, Hashable {
    /// The value of a setting for the topic.
    public struct Setting: Sendable, Hashable {
        /// The value in effect.
        public var value: String
        /// Whether it was set for this topic; else it is the broker's default.
        public var isOverridden: Bool

        /// As the broker reports it.
        public init(value: String, isOverridden: Bool) {
            self.value = value
            self.isOverridden = isOverridden
        }
    }

    /// Number of partitions.
    public var partitions: Int
    /// Of the partition with the fewest replicas.
    public var replicationFactor: Int
    /// By the broker's names; nil where the broker does not report them, as the development broker.
    public var configuration: [String: Setting]?

    /// `KafkaAdmin.states` creates it.
    public init(partitions: Int, replicationFactor: Int, configuration: [String: Setting]? = nil) {
        self.partitions = partitions
        self.replicationFactor = replicationFactor
        self.configuration = configuration
    }
}
