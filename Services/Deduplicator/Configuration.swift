import Chassis
import Pipeline
import Postgres

/// What the deduplicator can be told.
struct Configuration: WorkerVariables {
    let brokers = Variable.kafkaBrokers
    let database = Variable.databaseURL
    let databasePasswordFile = Variable.databasePasswordFile
    let schema = Variable.databaseSchema
    let batch = Variable.batchLimit
    let poisonRun = Variable.poisonRun
    let poisonRatio = Variable.poisonRatio
    let kafkaSettings = Variable.kafkaSettings
}

extension Settings<Configuration> {
    /// How to reach the database.
    var postgres: PostgresConfiguration {
        PostgresConfiguration(
            url: self.database, applicationName: "storekeeper deduplicator", passwordFile: self.databasePasswordFile,
            schema: self.schema)
    }
}
