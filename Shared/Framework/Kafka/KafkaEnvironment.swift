import Foundation

extension KafkaConfiguration {
    /// The configuration an environment describes.
    /// - Parameter fallback: the brokers if `KAFKA_BOOTSTRAP_SERVERS` is not set.
    /// - Throws: `KafkaConfigurationError` with all problems, librdkafka's included.
    public init(environment: [String: String], fallback: String) throws {
        self.init(
            bootstrapServers: environment["KAFKA_BOOTSTRAP_SERVERS"] ?? fallback,
            overrides: try Self.overrides(environment: environment))
        try validate()
    }

    /// librdkafka's settings from the environment: `KAFKA_SASL_MECHANISM` is `sasl.mechanism`, and
    /// `KAFKA_SASL_PASSWORD_FILE` is `sasl.password` read from that file, so that no secret is in the environment.
    ///
    /// `KAFKA_BOOTSTRAP_SERVERS` is not among them; nor is what Kubernetes adds to every container beside a service
    /// called kafka (`KAFKA_SERVICE_…`, `KAFKA_PORT…`).
    /// - Throws: `KafkaConfigurationError` naming every file that could not be read.
    public static func overrides(environment: [String: String]) throws -> [String: String] {
        var overrides: [String: String] = [:]
        var problems: [String] = []
        for (variable, value) in environment.sorted(by: { $0.key < $1.key }) {
            guard variable.hasPrefix("KAFKA_"), variable != "KAFKA_BOOTSTRAP_SERVERS", !isServiceLink(variable) else {
                continue
            }
            if variable.hasSuffix("_FILE") {
                do {
                    let name = setting(variable.dropLast("_FILE".count))
                    let text = try String(contentsOfFile: value, encoding: .utf8)
                    // Editors and `echo` end a file with a newline that is not part of a password; a PEM needs its own.
                    overrides[name] = text.hasPrefix("-----") ? text : text.trimmingCharacters(in: .newlines)
                } catch {
                    problems.append("\(variable) names a file that cannot be read as text: \(value)")
                }
            } else {
                overrides[setting(variable[...])] = value
            }
        }
        guard problems.isEmpty else { throw KafkaConfigurationError(problems: problems) }
        return overrides
    }

    private static func setting(_ variable: Substring) -> String {
        variable.dropFirst("KAFKA_".count).lowercased().replacingOccurrences(of: "_", with: ".")
    }

    /// The variable of a setting: `linger.ms` is `KAFKA_LINGER_MS`.
    package static func variable(_ setting: String) -> String {
        "KAFKA_" + setting.uppercased().replacingOccurrences(of: ".", with: "_")
    }

    private static func isServiceLink(_ variable: String) -> Bool {
        variable.hasPrefix("KAFKA_SERVICE_") || variable == "KAFKA_PORT" || variable.hasPrefix("KAFKA_PORT_")
    }
}
