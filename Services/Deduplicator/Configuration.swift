import Bootstrap
import Chassis
import Pipeline

/// Configuration of the deduplicator.
struct Configuration: WorkerVariables, DatabaseVariables {
    let brokers = Variable.kafkaBrokers
    let database = Variable.databaseURL
    let databasePasswordFile = Variable.databasePasswordFile
    let schema = Variable.databaseSchema
    let batch = Variable.batchLimit
    let rejectionRun = Variable.rejectionRun
    let rejectionRatio = Variable.rejectionRatio
    let recordKeys = Variable.recordKeys
    let kafkaSettings = Variable.kafkaSettings
}
