/// An entry of the brokers' access-control list: it allows one operation, from every host.
public struct AccessControlEntry: Sendable, Hashable {
    /// What the operation is on.
    public enum Resource: Sendable, Hashable {
        case topic(String)
        /// Consumer groups with this prefix.
        case groups(prefix: String)
    }

    /// Kafka's operations, as far as our services need them.
    public enum Operation: Sendable, Hashable, CaseIterable {
        case read, write, create, describe, describeConfigs, alterConfigs
    }

    /// Type and name, such as `User:CN=storekeeper-ingest`.
    public var principal: String
    /// What the principal may act on.
    public var resource: Resource
    /// What it may do.
    public var operation: Operation

    /// The brokers check none of it: an unknown principal may appear later.
    public init(principal: String, resource: Resource, operation: Operation) {
        self.principal = principal
        self.resource = resource
        self.operation = operation
    }
}
