/// One problem of the configuration, as a sentence that says what to do.
public struct ConfigurationProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong and what to set instead.
    public let description: String

    /// A rule across several variables, or about what a variable points to.
    public init(_ sentence: String) {
        description = sentence
    }

    /// The variable is readable but cannot be used; `reason` continues the sentence after the name.
    public static func unusable(name: String, reason: String) -> Self {
        Self("\(name) \(reason).")
    }

    static func missing(name: String, meaning: String) -> Self {
        Self("\(name) is not set: \(meaning). It has no default.")
    }

    static func unreadable(name: String, text: String, expected: String) -> Self {
        Self("\(name) is \"\(Redaction.withoutPassword(text))\", which is not \(expected).")
    }

    static func unknown(name: String, nearest: String?) -> Self {
        guard let nearest else {
            return Self("\(name) is not a variable of this service; remove it, or see --help for those that are.")
        }
        return Self("\(name) is not a variable of this service; did you mean \(nearest)?")
    }
}

/// All problems of the configuration, so that one start shows all of them.
public struct ConfigurationProblems: Error, Sendable, CustomStringConvertible {
    /// In the order of the table.
    public let problems: [ConfigurationProblem]

    /// All problems; at least one.
    public init(_ problems: [ConfigurationProblem]) {
        self.problems = problems
    }

    /// A heading and one line for each problem.
    public var description: String {
        let count = problems.count == 1 ? "1 problem" : "\(problems.count) problems"
        return "The configuration has \(count):\n" + problems.map { "  - \($0)" }.joined(separator: "\n")
    }
}
