import Chassis
import Postgres

/// The variables of a process that talks to the database.
public protocol DatabaseVariables: VariableTable {
    /// `DATABASE_URL`.
    var database: Variable<String> { get }
    /// `STOREKEEPER_DATABASE_PASSWORD_FILE`.
    var databasePasswordFile: Variable<String?> { get }
    /// `STOREKEEPER_DATABASE_SCHEMA`.
    var schema: Variable<String> { get }
}

extension Variable where Value == String {
    /// Where the database is.
    public static var databaseURL: Variable {
        .parsed(
            "DATABASE_URL", "the Postgres database, postgres://user@host:port/name; the password comes by file",
            expected: PostgresConfiguration.addressForm
        ) { PostgresConfiguration.isAddress($0) ? $0 : nil }
    }

    /// The schema of our tables.
    public static var databaseSchema: Variable {
        .parsed(
            "STOREKEEPER_DATABASE_SCHEMA", "the schema that holds our tables", default: "public",
            expected: PostgresConfiguration.schemaForm
        ) { PostgresConfiguration.isSchemaName($0) ? $0 : nil }
    }
}

extension Variable where Value == String? {
    /// The database's password.
    public static var databasePasswordFile: Variable {
        Variable<String>.path("STOREKEEPER_DATABASE_PASSWORD_FILE", "file that holds the database password").optional
    }
}

extension Settings where Table: DatabaseVariables {
    /// How to reach the database.
    /// - Parameter service: the command's name, by which the connection is known to the database.
    public func postgres(for service: String) -> PostgresConfiguration {
        PostgresConfiguration(
            url: self.database, applicationName: "storekeeper \(service)", passwordFile: self.databasePasswordFile,
            schema: self.schema)
    }
}
