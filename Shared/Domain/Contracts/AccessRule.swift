import Records

/// A permission that a service needs at the brokers: an entry of Kafka's access-control list, by Kafka's
/// names. Derived from the list of topics, so the two cannot differ.
public struct AccessRule: Sendable, Hashable {
    /// The kind of resource.
    public enum Resource: Sendable, Hashable {
        case topic(String)
        /// Consumer groups with this prefix: a service with several workers has a group for each.
        case groups(prefix: String)
    }

    /// Kafka's operations.
    public enum Operation: String, Sendable, Hashable {
        case create = "Create"
        case describe = "Describe"
        case describeConfigs = "DescribeConfigs"
        case alterConfigs = "AlterConfigs"
        case read = "Read"
        case write = "Write"
    }

    /// The command of the service.
    public var service: String
    /// What the service may act on.
    public var resource: Resource
    /// In Kafka's order, least powerful first.
    public var operations: [Operation]

    package init(service: String, resource: Resource, operations: [Operation]) {
        self.service = service
        self.resource = resource
        self.operations = operations
    }

    /// Every rule, service by service: `setup` first, then in the order of the pipeline.
    public static let all: [AccessRule] =
        Topics.all.map {
            AccessRule(
                service: "setup", resource: .topic($0.name),
                operations: [.describe, .describeConfigs, .create, .alterConfigs])
        }
        + ServiceName.all.flatMap { rules(of: $0) } + rulesOfKEDA

    /// KEDA, which scales by lag, sees how long topics and groups are, and reads no record.
    private static let rulesOfKEDA =
        Topics.all.filter { !$0.readers.isEmpty }.map {
            AccessRule(service: "keda", resource: .topic($0.name), operations: [.describe])
        } + [AccessRule(service: "keda", resource: .groups(prefix: "storekeeper."), operations: [.describe])]

    private static func rules(of service: ServiceName) -> [AccessRule] {
        // Both show how the pipeline is.
        let isWatcher = service == .storekeeper || service == .console
        let topics = Topics.all.compactMap { route -> AccessRule? in
            // The status compares the settings of topics with the expected ones; ingest reads how many replicas confirm a
            // notification before it answers 200.
            let readsSettings = isWatcher || service == .ingest && route.name == Topics.received.name
            var operations: [Operation] = readsSettings ? [.describe, .describeConfigs] : [.describe]
            // The status shows the lag of every group, and reads the oldest waiting record for its age.
            let isWatched = isWatcher && !route.readers.isEmpty
            if isWatched || route.readers.contains(service) { operations.append(.read) }
            if route.writers.contains(service) { operations.append(.write) }
            guard operations.count > 1 || isWatcher else { return nil }
            return AccessRule(service: service.name, resource: .topic(route.name), operations: operations)
        }
        let groups: [AccessRule] =
            if isWatcher {
                [
                    AccessRule(
                        service: service.name, resource: .groups(prefix: "storekeeper."),
                        // Of the command line, for offsets begin.
                        operations: service == .storekeeper ? [.describe, .read] : [.describe])
                ]
            } else if Topics.all.contains(where: { $0.readers.contains(service) }) {
                [AccessRule(service: service.name, resource: .groups(prefix: service.group), operations: [.read])]
            } else {
                []
            }
        return topics + groups
    }
}
