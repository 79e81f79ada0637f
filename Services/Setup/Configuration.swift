import Bootstrap
import Chassis
import Kafka
import Pipeline
import Postgres

/// Configuration of setup.
struct Configuration: KafkaVariables, DatabaseVariables {
    let brokers = Variable.kafkaBrokers
    let replicationFactor = Variable.int(
        "STOREKEEPER_REPLICATION_FACTOR",
        "copies of each partition: 3 with min.insync.replicas=2 in production, 1 on a single broker",
        in: 1...7)
    let aclPrincipals = Variable.string(
        "STOREKEEPER_ACL_PRINCIPALS",
        "Kafka principals of the services without their names, such as User:CN=storekeeper-; setup then gives each the ACLs "
            + "that it needs, which takes Alter on the cluster (without: the ACLs are yours)"
    ).optional
    let database = Variable.databaseURL
    let databasePasswordFile = Variable.databasePasswordFile
    let schema = Variable.databaseSchema
    let kafkaSettings = Variable.kafkaSettings
}

extension Settings<Configuration> {
    /// A migration may take longer than a statement of a service.
    var migration: PostgresConfiguration {
        var configuration = postgres(for: "setup")
        configuration.statementTimeout = nil
        return configuration
    }
}
