/// Everything that is wrong with a Kafka configuration, all at once, so that one start shows all of it.
public struct KafkaConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One sentence each, saying which setting and what to do. Never contains a secret.
    public let problems: [String]

    public init(problems: [String]) { self.problems = problems }

    public var description: String { problems.joined(separator: "\n") }
}
