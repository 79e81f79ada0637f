/// A topic and the message type of its records.
public struct Topic<Message: TopicMessage>: Sendable {
    /// The settings that `setup` needs.
    public let route: Route
    /// The name by which the broker knows the topic.
    public var name: String { route.name }

    /// - Parameters:
    ///   - key: what decides the partition of a record.
    ///   - partitions: each costs every batch a request and a compression of its own, and one instance of a stage does
    ///     thousands of records a second. An operator can add some at any time, where the order of arrival changes nothing.
    ///   - retention: how long the broker keeps a record.
    ///   - writers: services that may write to the topic.
    ///   - readers: services that may read the topic.
    ///   - isSealed: whether records have content that only a service of the deployment may write.
    public init(
        _ name: String, key: Route.Key, partitions: Int = 16, retention: Duration = .seconds(7 * 24 * 60 * 60),
        writers: [ServiceName], readers: [ServiceName], isSealed: Bool = false
    ) {
        route = Route(
            name: name, key: key, partitions: partitions, retention: retention, writers: writers, readers: readers,
            isSealed: isSealed)
    }
}

/// What `setup` and the access-control list need to know of a topic.
public struct Route: Sendable, Hashable {
    /// The partition key of a record.
    public enum Key: String, Sendable {
        /// No key: records spread evenly.
        case none
        /// The subject of the record, such as a purchase: one worker gets all records of one subject.
        case subject
        /// The key of the record that was rejected.
        case original
        /// The name of the instance.
        case instance
    }

    /// As in Kafka.
    public let name: String
    /// What decides the partition of a record.
    public let key: Key
    /// Number of partitions that `setup` creates.
    public let partitions: Int
    /// How long the broker keeps a record.
    public let retention: Duration
    /// Services that may write to the topic.
    public let writers: [ServiceName]
    /// Services that may read the topic.
    public let readers: [ServiceName]
    /// Whether some of its records need proof of their writer, see ``TopicMessage/needsSeal(_:)``.
    public let isSealed: Bool
}

/// The topics of a deployment.
public struct TopicPlan: Sendable {
    /// Every topic.
    public let routes: [Route]
    /// Where every stage writes what it rejects.
    public let deadLetters: Topic<DeadLetter>

    /// - Parameter routes: every topic, dead letters included.
    public init(routes: [Route], deadLetters: Topic<DeadLetter>) {
        self.routes = routes
        self.deadLetters = deadLetters
    }

    /// The topics that a service writes to or reads, and the least number of partitions of each.
    public func required(by service: ServiceName) -> [String: Int] {
        Dictionary(
            uniqueKeysWithValues: routes.filter { $0.writers.contains(service) || $0.readers.contains(service) }
                .map { ($0.name, $0.partitions) })
    }
}
