/// The processes that write to or read from topics, by the name of their command.
public enum ServiceName: String, Sendable, Hashable, CaseIterable {
    case ingest
    case verifier
    case deduplicator
    case stateUpdater = "state-updater"
    case scheduler
    case recovery
    case api
    case console
    /// The command line `storekeeper`, as a writer of replays and requests.
    case storekeeper

    /// The consumer group in which the instances of the service share partitions.
    public var group: String { "storekeeper.\(rawValue)" }
}
