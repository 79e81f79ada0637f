import Bootstrap
import Chassis
import Pipeline

/// The environment variables of the state-updater.
struct Configuration: WorkerVariables, DatabaseVariables {
    let brokers = Variable.kafkaBrokers
    let database = Variable.databaseURL
    let databasePasswordFile = Variable.databasePasswordFile
    let schema = Variable.databaseSchema
    let recoveryPatience = Variable.duration(
        "STOREKEEPER_RECOVERY_PATIENCE",
        "delay before a gap in a purchase's notifications triggers recovery; absorbs out-of-order delivery",
        default: "5m")
    let batch = Variable.batchLimit
    let rejectionRun = Variable.rejectionRun
    let rejectionRatio = Variable.rejectionRatio
    let recordKeys = Variable.recordKeys
    let kafkaSettings = Variable.kafkaSettings
}
