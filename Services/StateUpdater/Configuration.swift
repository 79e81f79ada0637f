import Bootstrap
import Chassis
import Pipeline

/// What the state-updater can be told.
struct Configuration: WorkerVariables, DatabaseVariables {
    let brokers = Variable.kafkaBrokers
    let database = Variable.databaseURL
    let databasePasswordFile = Variable.databasePasswordFile
    let schema = Variable.databaseSchema
    let recoveryPatience = Variable.duration(
        "STOREKEEPER_RECOVERY_PATIENCE",
        "how long a gap in a life may stay open before Apple is asked about it; most are notifications that overtook "
            + "each other", default: "5m")
    let batch = Variable.batchLimit
    let rejectionRun = Variable.rejectionRun
    let rejectionRatio = Variable.rejectionRatio
    let kafkaSettings = Variable.kafkaSettings
}
