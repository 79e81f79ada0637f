import Configuration

/// The environment as variables read it.
struct EnvironmentReader: Sendable {
    private let environment: [String: String]
    private let reader: ConfigReader

    init(_ environment: [String: String]) {
        self.environment = environment
        reader = ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: environment))
    }

    /// The text of a variable.
    ///
    /// An empty variable counts as not set: container tools create one where an operator left it out.
    func text(of name: String) -> String? {
        let key = ConfigKey(name.lowercased().split(separator: "_").map(String.init))
        guard let text = reader.string(forKey: key)?[...].trimmed(), !text.isEmpty else { return nil }
        return text
    }

    func names(withPrefix prefix: String) -> [String] {
        environment.keys.filter { $0.hasPrefix(prefix) }
    }

    func all(withPrefix prefix: String) -> [String: String] {
        environment.filter { $0.key.hasPrefix(prefix) }
    }
}
