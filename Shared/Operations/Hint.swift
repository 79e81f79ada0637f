import Kafka
import Postgres

/// A failure of a dependency for which a command knows a remedy that the library does not.
package protocol HintedError: Error {
    /// What to check; continues the sentence. Nil where the error says enough.
    var hint: String? { get }
}

extension HintedError {
    /// The error with its hint.
    package var messageWithHint: String { "\(self)\(hint.map { "; \($0)" } ?? "")" }
}

extension PostgresError: HintedError {
    package var hint: String? {
        switch sqlState {
        // undefined_table, undefined_column, undefined_function, invalid_schema_name.
        case "42P01", "42703", "42883", "3F000":
            "check that setup has run on this database since the last release, and STOREKEEPER_DATABASE_SCHEMA"
        // insufficient_privilege.
        case "42501":
            "grant the user of DATABASE_URL (or the role in PGOPTIONS) storekeeper_reader for reading, "
                + "storekeeper_operator for changes; a command that needs more says so in its --help"
        default: nil
        }
    }
}

extension KafkaError: HintedError {
    package var hint: String? {
        switch (meaning, name) {
        case (.retry, "_TIMED_OUT"), (.retry, "_MSG_TIMED_OUT"), (.retry, "_TRANSPORT"), (.retry, "_ALL_BROKERS_DOWN"),
            (.retry, "_RESOLVE"):
            "check KAFKA_BOOTSTRAP_SERVERS and that a broker runs there"
        default: nil
        }
    }
}
