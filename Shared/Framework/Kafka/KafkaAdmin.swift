import Logging
import Threads

/// Reads about a cluster and creates topics. For `setup`, `status` and the like; each call may take seconds.
public actor KafkaAdmin {
    private let thread = DedicatedThread(name: "kafka-admin")
    private let configuration: KafkaConfiguration
    private let logger: Logger
    private let patience: Duration
    private let handle: AdminHandle

    /// The admin's own thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Does not connect.
    /// - Parameter patience: timeout of one request.
    /// - Throws: `KafkaConfigurationError`.
    public init(
        _ configuration: KafkaConfiguration, patience: Duration = .seconds(15), logger: Logger
    ) throws {
        try configuration.validate()
        self.configuration = configuration
        self.patience = patience
        self.logger = logger
        handle = try AdminHandle(settings: configuration.clientSettings(), logger: logger)
    }

    /// Creates what does not exist yet, and leaves existing topics unchanged: the request does not name them.
    /// - Returns: one outcome per specification, in order.
    /// - Throws: `KafkaError` if the cluster cannot be asked at all.
    public func createTopics(
        _ specifications: [TopicSpecification]
    ) throws -> [(topic: String, outcome: TopicSpecification.Outcome)] {
        let existing = try topics()
        let wanted = specifications.filter { existing[$0.name] == nil }
        let created = wanted.isEmpty ? [:] : try handle.create(wanted, timeout: patience)
        return specifications.map { specification in
            if let count = existing[specification.name] { return (specification.name, .exists(partitions: count)) }
            guard let error = created[specification.name] ?? nil else { return (specification.name, .created) }
            return (specification.name, .failed(error))
        }
    }

    /// Every topic and its number of partitions.
    public func topics() throws -> [String: Int] { try handle.topics(timeout: patience) }

    /// The brokers' addresses as the cluster names them; whether they are reachable is another question.
    func brokerAddresses() throws -> [BrokerState] { try handle.brokers(timeout: patience) }

    /// The named topics, with their settings where the broker reports them. Those that do not exist are left out.
    public func states(of names: [String]) async throws -> [String: TopicState] {
        var states = try handle.states(timeout: patience).filter { names.contains($0.key) }
        let existing = states.keys.sorted()
        guard !existing.isEmpty else { return states }
        let settings = try await Self.repeatedWhileMissing(for: patience, on: ContinuousClock()) {
            try handle.settings(of: existing, timeout: patience)
        }
        for (name, settings) in settings ?? [:] { states[name]?.configuration = settings }
        return states
    }

    /// Sets settings of a topic by the broker's names, and leaves its others unchanged.
    public func alter(_ topic: String, _ changes: [String: String]) async throws {
        try await Self.repeatedWhileMissing(for: patience, on: ContinuousClock()) {
            try handle.alter(topic, changes, timeout: patience)
        }
    }

    /// Repeats a request about existing topics: after their creation, a broker may not know them for some seconds although
    /// another lists them.
    static func repeatedWhileMissing<Answer>(
        for patience: Duration, on clock: some Clock<Duration>, isolation: isolated (any Actor)? = #isolation,
        _ request: () throws -> Answer
    ) async throws -> Answer {
        let deadline = clock.now.advanced(by: patience)
        while true {
            do {
                return try request()
            } catch let error as KafkaError where error.meaning == .missing && clock.now < deadline {
                try await clock.sleep(for: .milliseconds(200))
            }
        }
    }

    /// Which of the entries the brokers' access-control list does not have, in their order.
    /// - Throws: `KafkaError`, also for brokers without an authorizer.
    public func missing(of entries: [AccessControlEntry]) throws -> [AccessControlEntry] {
        let existing = try handle.accessControlEntries(timeout: patience)
        return entries.filter { !existing.contains($0) }
    }

    /// Adds entries to the brokers' access-control list. Needs the operation Alter on the cluster.
    public func create(_ entries: [AccessControlEntry]) throws { try handle.create(entries, timeout: patience) }

    /// The cluster's id; positions belong to it.
    public func clusterId() throws -> String { try handle.client.clusterId(timeout: patience) }

    /// Whether the group has members; nil where the brokers do not answer such questions, as the embedded one.
    public func hasMembers(_ group: String) throws -> Bool? { try handle.hasMembers(group, timeout: patience) }

    /// The lag of a group in the topics, partition by partition, sorted. Topics that do not exist are left out.
    /// - Parameter lost: brokers that cannot be asked. What they lead is left out: one question to them would take the answers of
    ///   all others with it.
    public func lag(group: String, topics: [String], without lost: Set<Int32> = []) throws -> [PartitionLag] {
        let partitions = try handle.leaders(timeout: patience)
            .filter { topics.contains($0.key.topic) && !lost.contains($0.value) }.keys.sorted()
        guard !partitions.isEmpty else { return [] }
        // A client with the group's name that never subscribes: it reads the positions without becoming a member.
        let asking = try ConsumerHandle(
            settings: configuration.consumerSettings(group: group, offsetReset: .error), logger: logger)
        let committed = try asking.client.committed(partitions, timeout: patience)
        let watermarks = try asking.client.watermarks(partitions, timeout: patience)
        return zip(zip(partitions, committed), watermarks).map { position, watermarks in
            PartitionLag(
                partition: position.0, committed: position.1?.offset, metadata: position.1?.metadata,
                low: watermarks.low, end: watermarks.high)
        }
    }
}
