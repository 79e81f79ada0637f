import ArgumentParser
import Chassis
import Commands
import Foundation

/// `storekeeper config`: the effective configuration, without secrets.
struct Config: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show the effective configuration, without secrets.",
        discussion: """
            Shows the variables that storekeeper reads; a service prints its own with --config. Exit codes: 0 valid; 78 \
            missing or invalid configuration.

            Example: storekeeper config --json
            """)

    @OptionGroup var output: OutputOptions

    func run(in context: CommandContext) async throws {
        let rows = VariableRow.all(in: context.environment)
        try output.list(rows, none: "", in: context)
        // Reports all problems of every dependency that is configured.
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
        try await check("STOREKEEPER_APP_STORE_API_KEYS_FILE") {
            try await AppleOptions.parse([]).withClients(in: context) { _ in }
        }
        if !problems.isEmpty { throw ConfigurationProblems(problems) }
    }
}

/// A row of `storekeeper config`: a variable and its value, redacted.
struct VariableRow: ListedRow {
    var name: String
    /// Nil where it is neither set nor has a default.
    var value: String?
    var isDefault: Bool

    static let columns: [TextTable.Column] = ["variable", "value", "source"]

    var cells: [String] { [name, value ?? "(not set)", value == nil ? "-" : isDefault ? "default" : "environment"] }

    /// The variables that commands read, and all settings for librdkafka.
    static func all(in environment: [String: String]) -> [VariableRow] {
        // Which librdkafka settings are secret is unknown here: only their names are shown.
        let tables: [any VariableTable] = [
            DatabaseOptions.Variables(), KafkaOptions.Variables(), AppleOptions.Variables(),
        ]
        return tables.flatMap { $0.effective(in: environment) }.map {
            VariableRow(name: $0.name, value: $0.value, isDefault: $0.isDefault)
        }
    }
}
