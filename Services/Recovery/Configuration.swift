import AppleAccess
import Chassis
import Database
import Pipeline

/// What recovery can be told.
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
    let apiLimitShare = Variable.apiLimitShare(default: "0.2")
    let attemptsAge = Variable.duration(
        "STOREKEEPER_KEEP_SEND_ATTEMPTS", "how long Apple's attempts to reach us are kept", default: "180d")
    let answersAge = Variable.duration(
        "STOREKEEPER_KEEP_RECOVERY_ANSWERS", "how long it is kept what Apple told of single customers",
        default: "180d")
    let lettersAge = Variable.duration(
        "STOREKEEPER_KEEP_REJECTED",
        "how long the index of the dead letters is kept: as long as the log keeps the letters themselves",
        default: "30d")
    let batch = Variable.batchLimit
    let rejectionRun = Variable.rejectionRun
    let rejectionRatio = Variable.rejectionRatio
    let kafkaSettings = Variable.kafkaSettings

    /// Whose keys they are stands in the file of apps.
    func problems(in settings: Settings<Configuration>) -> [ConfigurationProblem] {
        let kafka = settings.kafkaProblems
        guard settings.apiKeys != nil, settings.apps == nil else { return kafka }
        return kafka + [
            .unusable(
                name: "STOREKEEPER_API_KEYS_FILE", reason: "needs STOREKEEPER_APPS_FILE beside it, which is not set")
        ]
    }
}
