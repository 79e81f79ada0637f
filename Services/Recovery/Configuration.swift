import Bootstrap
import Chassis
import Pipeline

/// Recovery's environment variables.
struct Configuration: WorkerVariables, DatabaseVariables {
    let brokers = Variable.kafkaBrokers
    let database = Variable.databaseURL
    let databasePasswordFile = Variable.databasePasswordFile
    let schema = Variable.databaseSchema
    let apiKeys = Variable.apiKeysFile.optional
    let apps = Variable.appsFile.optional
    let roots = Variable.rootFiles.optional
    let developmentMode = Variable.developmentMode
    let apiURL = Variable.apiURL.optional
    let apiLimitShare = Variable.apiLimitShare
    let attemptsAge = Variable.duration(
        "STOREKEEPER_KEEP_SEND_ATTEMPTS", "retention of Apple's delivery attempts", default: "180d")
    let answersAge = Variable.duration(
        "STOREKEEPER_KEEP_RECOVERY_ANSWERS",
        "retention of the outcomes of requests for the history of single customers",
        default: "180d")
    let deadLettersAge = Variable.duration(
        "STOREKEEPER_KEEP_REJECTED",
        "retention of the table of dead letters (rejected records); set it to that of notifications.rejected",
        default: "30d")
    let batch = Variable.batchLimit
    let rejectionRun = Variable.rejectionRun
    let rejectionRatio = Variable.rejectionRatio
    let recordKeys = Variable.recordKeys
    let kafkaSettings = Variable.kafkaSettings

    /// The file of apps assigns keys to apps.
    func problems(in settings: Settings<Configuration>) -> [ConfigurationProblem] {
        let kafka = settings.workerProblems
        guard settings.apiKeys != nil, settings.apps == nil else { return kafka }
        return kafka + [
            .unusable(
                name: "STOREKEEPER_APP_STORE_API_KEYS_FILE",
                reason: "needs STOREKEEPER_APPS_FILE beside it, which is not set")
        ]
    }
}
