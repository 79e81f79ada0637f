import ArgumentParser
import Bootstrap
import Chassis
import Postgres

/// The database: the services' variables, overridden by options.
package struct DatabaseOptions: ParsableArguments {
    @Option(
        name: .customLong("database-url"),
        help: "Database URL; a password in it is visible in the process list (default: DATABASE_URL).")
    package var url: String?

    @Option(help: "Schema of the tables (default: STOREKEEPER_DATABASE_SCHEMA, then public).")
    package var schema: String?

    package init() {}

    package func validate() throws {
        // Not shown: it may hold a password.
        if let url, !PostgresConfiguration.isAddress(url) {
            throw ValidationError("--database-url is not \(PostgresConfiguration.addressForm)")
        }
        if let schema, !PostgresConfiguration.isSchemaName(schema) {
            throw ValidationError("--schema \(schema.escaped) is not \(PostgresConfiguration.schemaForm)")
        }
    }

    /// A connection whose application name is the command's.
    /// - Throws: `ConfigurationProblems` where no database is configured.
    package func connection(for command: String, in context: CommandContext) throws -> PostgresConnection {
        PostgresConnection(try configuration(for: command, in: context), logger: .silent)
    }

    /// A connection without a limit for the time of a statement, for what reads or writes whole tables.
    /// - Throws: `ConfigurationProblems` where no database is configured.
    package func patientConnection(for command: String, in context: CommandContext) throws -> PostgresConnection {
        var configuration = try configuration(for: command, in: context)
        configuration.statementTimeout = nil
        return PostgresConnection(configuration, logger: .silent)
    }

    /// Whether a database is configured, validly or not.
    package func isGiven(in context: CommandContext) -> Bool {
        !(url ?? context.environment["DATABASE_URL"] ?? "").allSatisfy(\.isWhitespace)
    }

    package func configuration(for command: String, in context: CommandContext) throws -> PostgresConfiguration {
        try settings(in: context).postgres(for: command)
    }

    private func settings(in context: CommandContext) throws -> Settings<Variables> {
        var environment = context.environment(of: Self.names)
        if let url { environment["DATABASE_URL"] = url }
        if let schema { environment["STOREKEEPER_DATABASE_SCHEMA"] = schema }
        return try Settings(Variables(), environment: environment)
    }

    private static let names = ["DATABASE_URL", "STOREKEEPER_DATABASE_PASSWORD_FILE", "STOREKEEPER_DATABASE_SCHEMA"]

    package struct Variables: DatabaseVariables {
        package let database = Variable.databaseURL
        package let databasePasswordFile = Variable.databasePasswordFile
        package let schema = Variable.databaseSchema

        package init() {}
    }
}
