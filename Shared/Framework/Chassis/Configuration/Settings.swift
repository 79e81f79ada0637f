/// The values of a service's variables, all of them readable.
///
/// A value is read as a property of the table's name for it: `settings.address` is the `ListenAddress` of the variable
/// `address`.
@dynamicMemberLookup
public struct Settings<Table: VariableTable>: Sendable {
    private let table: Table
    private var values: [String: any Sendable] = [:]

    /// Reads and checks everything at once.
    /// - Parameter environment: names and texts; in a process, its environment.
    /// - Throws: every problem: missing variables, unreadable ones, and unknown `STOREKEEPER_…` variables, because a typo
    ///   must not become production with a default.
    public init(_ table: Table, environment: [String: String]) throws(ConfigurationProblems) {
        let reader = EnvironmentReader(environment)
        try self.init(table, in: reader)
        let undeclared = Self.undeclared(in: reader, declared: table.variables)
        guard undeclared.isEmpty else { throw ConfigurationProblems(undeclared) }
    }

    /// Reads the table's own variables and ignores all others: a process has two tables and one environment.
    init(_ table: Table, in reader: EnvironmentReader) throws(ConfigurationProblems) {
        self.table = table
        var problems: [ConfigurationProblem] = []
        for variable in table.variables {
            do throws(ConfigurationProblem) {
                values[variable.name] = try variable.boxed(in: reader)
            } catch {
                problems.append(error)
            }
        }
        problems += SecretFiles.problems(in: reader, declared: table.variables)
        if problems.isEmpty { problems = table.problems(in: self) }
        guard problems.isEmpty else { throw ConfigurationProblems(problems) }
    }

    /// The value of one variable of the table.
    public subscript<Value>(dynamicMember member: KeyPath<Table, Variable<Value>>) -> Value {
        let name = table[keyPath: member].name
        guard let read = values[name] as? ReadValue<Value> else {
            preconditionFailure("\(name) must be a stored property of \(Table.self), else it is not read at start")
        }
        return read.value
    }

    /// `STOREKEEPER_…` names in the environment that no variable covers.
    static func undeclared(
        in reader: EnvironmentReader, declared: [any DeclaredVariable]
    ) -> [ConfigurationProblem] {
        let names = declared.map(\.name)
        return reader.names(withPrefix: "STOREKEEPER_").sorted()
            .filter { name in !declared.contains { $0.covers(name) } }
            .map { .unknown(name: $0, nearest: NearestName.of($0, among: names)) }
    }

    /// Variables that are set although their meaning says `deprecated since 0.5: …`: they go with the next minor release.
    static func deprecated(
        in reader: EnvironmentReader, declared: [any DeclaredVariable]
    ) -> [any DeclaredVariable] {
        declared.filter { $0.meaning.contains("deprecated since ") && reader.text(of: $0.name) != nil }
    }
}
