import Chassis
import Foundation
import Pipeline

/// What the verifier can be told.
struct Configuration: WorkerVariables {
    let brokers = Variable.kafkaBrokers
    let apps = Variable.path(
        "STOREKEEPER_APPS_FILE",
        #"JSON file of our apps: [{"bundleId": "…", "appAppleId": 1, "environments": ["Production", "Sandbox"]}]"#)
    let roots = Variable.list(
        "STOREKEEPER_ROOT_FILES", "further trusted roots, DER or PEM files; Apple Root CA - G3 is always trusted"
    ).optional
    let developmentMode = Variable.bool(
        "STOREKEEPER_DEVELOPMENT_MODE", "accept Xcode, LocalTesting and development roots; never in production",
        default: "false")
    let cores = Variable.int(
        "STOREKEEPER_VERIFIER_CORES", "how many records are proven at the same time; 0 is one per core", default: "0",
        in: 0...1024)
    let batch = Variable.batchLimit
    let poisonRun = Variable.poisonRun
    let poisonRatio = Variable.poisonRatio
    let kafkaSettings = Variable.kafkaSettings
}

extension Settings<Configuration> {
    /// How many records may be proven at the same time.
    var usableCores: Int { self.cores == 0 ? ProcessInfo.processInfo.activeProcessorCount : self.cores }
}
