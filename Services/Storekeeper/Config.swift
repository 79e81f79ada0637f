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
        // Nobody here knows which of librdkafka's settings are secret: only their names are shown.
        let tables: [any VariableTable] = [
            DatabaseOptions.Variables(), KafkaOptions.Variables(), AppleOptions.Variables(),
        ]
        return tables.flatMap { $0.effective(in: environment) }.map {
            VariableRow(name: $0.name, value: $0.value, isDefault: $0.isDefault)
        }
    }
}
