import ArgumentParser
import Chassis
import Foundation

/// `storekeeper config`: what the variables say, with nothing secret.
struct Config: Verb {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show the effective configuration of this command line, without secrets.",
        discussion: """
            What a service makes of its environment is shown by the service itself: verifier --config. Exits 78 where a \
            variable cannot be used.
            """)

    @OptionGroup var output: OutputOptions

    func run(in surroundings: Surroundings) async throws {
        let rows = VariableRow.all(in: surroundings.environment)
        try output.list(rows, none: "", in: surroundings)
        // Says what is wrong, all of it at once, for each place that is given at all.
        if surroundings.environment["KAFKA_BOOTSTRAP_SERVERS"] != nil {
            _ = try KafkaOptions.parse([]).configuration(in: surroundings)
        }
        if surroundings.environment["STOREKEEPER_API_KEYS_FILE"] != nil {
            try await AppleOptions.parse([]).withClients(in: surroundings) { _ in }
        }
    }
}

/// A variable and its value, as far as it may be shown.
struct VariableRow: ListedRow {
    var name: String
    /// Nil where it is not set and has no default.
    var value: String?
    var isDefault: Bool

    static let columns: [TextTable.Column] = ["variable", "value", "from"]

    var cells: [String] { [name, value ?? "(not set)", value == nil ? "-" : isDefault ? "default" : "environment"] }

    /// The variables that commands read, and every setting that is handed on to librdkafka.
    static func all(in environment: [String: String]) -> [VariableRow] {
        let known: [(name: String, default: String?)] = [
            ("DATABASE_URL", nil), ("STOREKEEPER_DATABASE_PASSWORD_FILE", nil),
            ("STOREKEEPER_DATABASE_SCHEMA", "public"), ("KAFKA_BOOTSTRAP_SERVERS", nil),
            ("STOREKEEPER_APPS_FILE", nil), ("STOREKEEPER_API_KEYS_FILE", nil), ("STOREKEEPER_API_URL", nil),
            ("STOREKEEPER_ROOT_FILES", nil), ("STOREKEEPER_DEVELOPMENT_MODE", "false"),
            ("STOREKEEPER_API_LIMIT_SHARE", "0.2"),
        ]
        let rows = known.map { variable in
            let given = environment[variable.name].flatMap { $0.isEmpty ? nil : $0 }
            return VariableRow(
                name: variable.name, value: (given ?? variable.default).map(redacted), isDefault: given == nil)
        }
        let kafka = environment.keys.filter { $0.hasPrefix("KAFKA_") && $0 != "KAFKA_BOOTSTRAP_SERVERS" }.sorted()
        // Nobody here knows which of librdkafka's settings are secret.
        return rows + kafka.map { VariableRow(name: $0, value: "(hidden)", isDefault: false) }
    }

    /// Without the password of a URL, or of a `key=value` list.
    static func redacted(_ text: String) -> String {
        text.lowercased().contains("password") ? "(hidden)" : Redaction.withoutPassword(text)
    }
}
