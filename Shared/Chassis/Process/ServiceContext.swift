/// What main.swift wires a service from.
public struct ServiceContext<Table: VariableTable>: Sendable {
    /// The values of the service's variables.
    public let settings: Settings<Table>
    /// Labelled with the service's name.
    public let logger: Logger
    /// Where readiness conditions and pulses are registered.
    public let health: Health
    /// Makes the steps of traces.
    public let tracer: Tracer
    /// The clocks main.swift was started with.
    public let clock: ProcessClock
    /// Tells this process from others of the same service, in heartbeats and group members.
    public let instance: String
    /// For the libraries that read settings of their own by prefix.
    public let environment: [String: String]
    /// What the command line asks for besides, with its dashes.
    public var flag: String?
}
