/// One environment variable, declared once: its name, its meaning, and how its text becomes a value.
///
/// The same declaration serves parsing, `--help` and `--config`, so that the three cannot differ.
public struct Variable<Value: Sendable>: Sendable {
    let name: String
    let meaning: String
    /// Shown by `--help`; nil for a variable that must be set or is optional.
    let defaultText: String?
    let isOptional: Bool
    let isSecret: Bool
    let read: @Sendable (EnvironmentReader) throws(ConfigurationProblem) -> Value

    /// The same variable, but optional; its value is nil then.
    ///
    /// For a variable without a sensible value of its own whose absence switches something off. Not for a default.
    public var optional: Variable<Value?> {
        let name = self.name
        let read = self.read
        return Variable<Value?>(
            name: name, meaning: meaning, defaultText: nil, isOptional: true, isSecret: isSecret
        ) { environment throws(ConfigurationProblem) in
            guard environment.text(of: name) != nil else { return nil }
            return try read(environment)
        }
    }
}

/// A variable of any type, as the table sees it.
protocol DeclaredVariable: Sendable {
    var name: String { get }
    var meaning: String { get }
    var defaultText: String? { get }
    var isOptional: Bool { get }
    /// The value in this environment, wrapped so that an optional one survives the loss of its type.
    func boxed(in environment: EnvironmentReader) throws(ConfigurationProblem) -> any Sendable
    /// The effective value as an operator may see it: nil if it is not set.
    func shown(in environment: EnvironmentReader) -> String?
    /// Whether an environment variable of this name is covered by the declaration.
    func covers(_ name: String) -> Bool
}

extension Variable: DeclaredVariable {
    func boxed(in environment: EnvironmentReader) throws(ConfigurationProblem) -> any Sendable {
        ReadValue(value: try read(environment))
    }

    func shown(in environment: EnvironmentReader) -> String? {
        if let prefix = name.wildcardPrefix {
            let names = environment.names(withPrefix: prefix).sorted()
            return names.isEmpty ? nil : names.joined(separator: ", ")
        }
        guard let text = environment.text(of: name) ?? defaultText else { return nil }
        return isSecret ? "(hidden)" : Redaction.withoutPassword(text)
    }

    func covers(_ other: String) -> Bool {
        if let prefix = name.wildcardPrefix { return other.hasPrefix(prefix) }
        return other == name
    }
}

struct ReadValue<Value: Sendable>: Sendable {
    let value: Value
}

extension String {
    /// `KAFKA_` for `KAFKA_*`, nil for an ordinary name.
    var wildcardPrefix: String? { hasSuffix("*") ? String(dropLast()) : nil }
}
