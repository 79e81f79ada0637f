import Chassis
import Postgres

/// The variables of a service with database access.
package protocol DatabaseVariables: VariableTable {
    /// `DATABASE_URL`.
    var database: Variable<String> { get }
    /// `STOREKEEPER_DATABASE_PASSWORD_FILE`.
    var databasePasswordFile: Variable<String?> { get }
    /// `STOREKEEPER_DATABASE_SCHEMA`.
    var schema: Variable<String> { get }
}

extension Variable where Value == String {
    /// The database URL.
    package static var databaseURL: Variable {
        .parsed(
            "DATABASE_URL", "Postgres URL, postgres://user@host:port/name, without password",
            expected: PostgresConfiguration.addressForm
        ) { PostgresConfiguration.isAddress($0) ? $0 : nil }
    }

    /// The schema of the tables.
    package static var databaseSchema: Variable {
        .parsed(
            "STOREKEEPER_DATABASE_SCHEMA", "schema of the tables", default: "public",
            expected: PostgresConfiguration.schemaForm
        ) { PostgresConfiguration.isSchemaName($0) ? $0 : nil }
    }
}

extension Variable where Value == String? {
    /// The database's password.
    package static var databasePasswordFile: Variable {
        Variable<String>.path("STOREKEEPER_DATABASE_PASSWORD_FILE", "file that holds the database password").optional
    }
}

extension Settings where Table: DatabaseVariables {
    /// The connection settings.
    /// - Parameters:
    ///   - service: becomes the connection's application name.
    ///   - plansOnce: whether statements are planned once.
    package func postgres(for service: String, plansOnce: Bool = false) -> PostgresConfiguration {
        var configuration = PostgresConfiguration(
            url: self.database, applicationName: "storekeeper \(service)", passwordFile: self.databasePasswordFile,
            schema: self.schema)
        configuration.plansOnce = plansOnce
        return configuration
    }
}
