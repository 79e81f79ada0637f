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
    /// A variable that is set to nothing counts as not set: that is what container tools make of a variable that the
    /// operator left out.
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
