import ArgumentParser
import Chassis
import Database
import Postgres

/// Where the database is: the services' variables, and options that outweigh them.
struct DatabaseOptions: ParsableArguments {
    @Option(
        name: .customLong("database-url"),
        help: "The database; a password in it is seen by whoever lists processes. Default: DATABASE_URL.")
    var url: String?

    @Option(help: "The schema that holds the tables. Default: STOREKEEPER_DATABASE_SCHEMA, else public.")
    var schema: String?

    func validate() throws {
        // Not shown: it may hold a password.
        if let url, !PostgresConfiguration.isAddress(url) {
            throw ValidationError("--database-url is not \(PostgresConfiguration.addressForm)")
        }
        if let schema, !PostgresConfiguration.isSchemaName(schema) {
            throw ValidationError("--schema \(schema.visible) is not \(PostgresConfiguration.schemaForm)")
        }
    }

    /// A connection that is known to the server by the command's name.
    /// - Throws: `ConfigurationProblems` where nothing says which database.
    func connection(for command: String, in surroundings: Surroundings) throws -> PostgresConnection {
        PostgresConnection(try configuration(for: command, in: surroundings), logger: .silent)
    }

    /// Whether anything says which database, rightly or wrongly.
    func isGiven(in surroundings: Surroundings) -> Bool {
        !(url ?? surroundings.environment["DATABASE_URL"] ?? "").allSatisfy(\.isWhitespace)
    }

    func configuration(for command: String, in surroundings: Surroundings) throws -> PostgresConfiguration {
        try settings(in: surroundings).postgres(for: command)
    }

    private func settings(in surroundings: Surroundings) throws -> Settings<Variables> {
        var environment = surroundings.environment(of: Self.names)
        if let url { environment["DATABASE_URL"] = url }
        if let schema { environment["STOREKEEPER_DATABASE_SCHEMA"] = schema }
        return try Settings(Variables(), environment: environment)
    }

    private static let names = ["DATABASE_URL", "STOREKEEPER_DATABASE_PASSWORD_FILE", "STOREKEEPER_DATABASE_SCHEMA"]

    struct Variables: DatabaseVariables {
        let database = Variable.databaseURL
        let databasePasswordFile = Variable.databasePasswordFile
        let schema = Variable.databaseSchema
    }
}
