/// What main.swift builds a service from.
public struct ServiceContext<Table: VariableTable>: Sendable {
    /// The values of the service's variables.
    public let settings: Settings<Table>
    /// Labelled with the service's name.
    public let logger: Logger
    /// Registers readiness checks and liveness probes.
    public let health: Health
    /// Creates the spans of traces.
    public let tracer: Tracer
    /// The clocks of the process.
    public let clock: ProcessClock
    /// Distinguishes this process from others of the same service, in heartbeats and group members.
    public let instance: String
    /// For libraries that read settings of their own by prefix.
    public let environment: [String: String]
    /// A flag of the command line, with its dashes.
    public var flag: String?
}
