import Kafka
import Postgres

/// What went wrong in the world, of which an operator's command knows more than the library that met it.
protocol Advised: Error {
    /// What to look at; continues the sentence. Nil where the error has said it.
    var advice: String? { get }
}

extension Advised {
    /// The error and what to do about it.
    var advised: String { "\(self)\(advice.map { "; \($0)" } ?? "")" }
}

extension PostgresError: Advised {
    var advice: String? {
        switch sqlState {
        // undefined_table, undefined_column, undefined_function, invalid_schema_name.
        case "42P01", "42703", "42883", "3F000":
            "has storekeeper setup run on this database since the last release, and is STOREKEEPER_DATABASE_SCHEMA right?"
        // insufficient_privilege.
        case "42501":
            "the user of DATABASE_URL, or the role that PGOPTIONS gives it, lacks this right: to look takes the role "
                + "storekeeper_reader, to change something storekeeper_scheduler (grant storekeeper_scheduler to …); "
                + "what takes more says so in its --help"
        default: nil
        }
    }
}

extension KafkaError: Advised {
    var advice: String? {
        switch (meaning, name) {
        case (.retry, "_TIMED_OUT"), (.retry, "_MSG_TIMED_OUT"), (.retry, "_TRANSPORT"), (.retry, "_ALL_BROKERS_DOWN"),
            (.retry, "_RESOLVE"):
            "is KAFKA_BOOTSTRAP_SERVERS right, and does a broker run there?"
        default: nil
        }
    }
}
