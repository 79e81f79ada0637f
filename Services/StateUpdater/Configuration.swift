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
        "how long to wait after a gap (a pair of notifications of a subscription between which one must be missing) before "
            + "the customer's history is requested from Apple; a late notification closes the gap meanwhile",
        default: "5m")
    let endPatience = Variable.duration(
        "STOREKEEPER_END_PATIENCE",
        "how long after the end of an access period a notification about it is waited for, before ACCESS_ENDED is published",
        default: "10m")
    let batch = Variable.batchLimit
    let rejectionRun = Variable.rejectionRun
    let rejectionRatio = Variable.rejectionRatio
    let recordKeys = Variable.recordKeys
    let kafkaSettings = Variable.kafkaSettings
}
