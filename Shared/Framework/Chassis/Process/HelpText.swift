/// Texts of `--help` and `--config`.
struct HelpText {
    let name: String
    let summary: String
    var flags: [String: String] = [:]
    let own: [any DeclaredVariable]
    let common: [any DeclaredVariable]

    /// For `--help`: what the process does and every variable it reads.
    var manual: String {
        """
        \(name) \(BuildInformation.version)
        \(summary)

        usage: \(name) [\((["--help", "--version", "--config"] + flags.keys.sorted()).joined(separator: " | "))]

          --help      print this text
          --version   print the version
          --config    print the effective configuration, secrets hidden, without starting
        \(flags.sorted { $0.key < $1.key }.map { "  \($0.key)     \($0.value)\n" }.joined())
        Everything else is read from the environment.

        Example: \((required + [name, "--config"]).joined(separator: " "))
        \(own.isEmpty ? "" : "\nVariables of \(name):\n\n" + described(own))
        Variables of every service:

        \(described(common))
        Exit codes: 0 done, or stopped in time; 1 failed, or stopping took too long;
        64 invalid command line; 78 missing or invalid configuration.

        """
    }

    private var required: [String] {
        own.filter(\.isRequired).map { "\($0.name)=…" }
    }

    /// For `--config`: one `NAME=value` per line; what is not set is commented out.
    func effectiveConfiguration(in environment: EnvironmentReader) -> String {
        (own + common).map { variable in
            guard let value = variable.shown(in: environment) else { return "# \(variable.name) is not set" }
            return variable.name.wildcardPrefix == nil ? "\(variable.name)=\(value)" : "# \(variable.name): \(value)"
        }
        .map { $0 + "\n" }.joined()
    }

    private func described(_ variables: [any DeclaredVariable]) -> String {
        variables.map { variable in
            "  \(variable.name)\(Self.standing(of: variable))\n      \(variable.meaning)\n"
        }
        .joined()
    }

    private static func standing(of variable: any DeclaredVariable) -> String {
        if let defaultText = variable.defaultText { return "  (default \(defaultText))" }
        return variable.isRequired ? "  (required)" : "  (optional)"
    }
}

extension DeclaredVariable {
    fileprivate var isRequired: Bool { !isOptional && defaultText == nil }
}
