/// A service's variables: a struct whose stored properties are `Variable`s, in the order in which `--help` lists them.
///
/// ```swift
/// struct Configuration: VariableTable {
///     let address = Variable.address("STOREKEEPER_INGEST_ADDRESS", "where to listen", default: "127.0.0.1:8080")
///     let brokers = Variable.string("KAFKA_BOOTSTRAP_SERVERS", "host:port of one or more brokers, comma-separated")
/// }
/// ```
public protocol VariableTable: Sendable {
    /// Problems across variables ("A needs B"); called only when every single variable is readable.
    func problems(in settings: Settings<Self>) -> [ConfigurationProblem]
}

extension VariableTable {
    /// No rules across variables.
    public func problems(in settings: Settings<Self>) -> [ConfigurationProblem] { [] }

    /// Found by reflection, so that a variable is declared in one place and cannot be forgotten in a second.
    var variables: [any DeclaredVariable] {
        Mirror(reflecting: self).children.compactMap { $0.value as? any DeclaredVariable }
    }
}
