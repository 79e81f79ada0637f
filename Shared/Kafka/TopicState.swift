/// A topic as it is.
public struct TopicState: Sendable, Hashable {
    /// A setting as it holds for the topic.
    public struct Setting: Sendable, Hashable {
        /// The value in force.
        public var value: String
        /// Whether it was set for this topic; else it is the broker's default.
        public var isOverridden: Bool

        /// As the broker tells it.
        public init(value: String, isOverridden: Bool) {
            self.value = value
            self.isOverridden = isOverridden
        }
    }

    /// How many.
    public var partitions: Int
    /// Of the partition that has the fewest copies.
    public var replicationFactor: Int
    /// By the broker's names; nil where the broker does not tell, as the development broker.
    public var configuration: [String: Setting]?

    /// `KafkaAdmin.states` asks for it.
    public init(partitions: Int, replicationFactor: Int, configuration: [String: Setting]? = nil) {
        self.partitions = partitions
        self.replicationFactor = replicationFactor
        self.configuration = configuration
    }
}
