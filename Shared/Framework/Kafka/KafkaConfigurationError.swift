/// All problems of a Kafka configuration at once, so that one start shows all of them.
public struct KafkaConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One sentence each, saying which setting and what to do. Never contains a secret.
    public let problems: [String]

    /// One problem per line.
    public var description: String { problems.joined(separator: "\n") }
}
