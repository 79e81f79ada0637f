/// Everything that is wrong with a Kafka configuration, all at once, so that one start shows all of it.
public struct KafkaConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One sentence each, saying which setting and what to do. Never contains a secret.
    public let problems: [String]

    /// For whoever finds problems before librdkafka does.
    public init(problems: [String]) { self.problems = problems }

    /// One problem per line.
    public var description: String { problems.joined(separator: "\n") }
}
