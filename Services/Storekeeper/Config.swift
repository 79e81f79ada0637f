import ArgumentParser
import Chassis
import Foundation

/// `storekeeper config`: what the variables say, with nothing secret.
struct Config: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show the effective configuration of this command line, without secrets.",
        discussion: """
            What a service makes of its environment is shown by the service itself: verifier --config. Exits 78 where a \
            variable cannot be used.
            """)

    @OptionGroup var output: OutputOptions

    func run(in context: CommandContext) async throws {
        let rows = VariableRow.all(in: context.environment)
        try output.list(rows, none: "", in: context)
        // Says what is wrong, all of it at once, of each place that is given at all.
        var problems: [ConfigurationProblem] = []
        func check(_ variable: String, _ body: () async throws -> Void) async throws {
            guard context.environment[variable]?.isEmpty == false else { return }
            do { try await body() } catch let found as ConfigurationProblems { problems += found.problems }
        }
        try await check("DATABASE_URL") {
            _ = try DatabaseOptions.parse([]).configuration(for: "config", in: context)
        }
        try await check("KAFKA_BOOTSTRAP_SERVERS") {
            _ = try KafkaOptions.parse([]).configuration(in: context)
        }
        try await check("STOREKEEPER_API_KEYS_FILE") {
            try await AppleOptions.parse([]).withClients(in: context) { _ in }
        }
        if !problems.isEmpty { throw ConfigurationProblems(problems) }
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
