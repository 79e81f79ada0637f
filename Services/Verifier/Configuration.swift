import AppStore
import Bootstrap
import Chassis
import Foundation
import Pipeline

/// What the verifier can be told.
struct Configuration: WorkerVariables {
    let brokers = Variable.kafkaBrokers
    let apps = Variable.appsFile
    let roots = Variable.rootFiles.optional
    let developmentMode = Variable.developmentMode
    let revocation = Variable<RevocationMode>.choice(
        "STOREKEEPER_REVOCATION",
        "soft: refuse what a responder (OCSP) calls revoked; hard: also what no responder vouches for; off: ask nobody",
        default: "soft")
    let revocationRefresh = Variable.duration(
        "STOREKEEPER_REVOCATION_REFRESH", "the longest time between two questions about a certificate", default: "1h")
    let cores = Variable.int(
        "STOREKEEPER_VERIFIER_CORES", "how many records are proven at the same time; 0 is one per core", default: "0",
        in: 0...1024)
    let unprovenShare = Variable.double(
        "STOREKEEPER_VERIFIER_UNPROVEN_SHARE",
        "share of one core for certificate chains that were never proven, which are mostly forged; above "
            + "\(ChainBudget.perSecond) a second they wait in notifications.unproven",
        default: "0.25", in: 0.01...1)
    let batch = Variable.batchLimit
    let rejectionRun = Variable.rejectionRun
    let rejectionRatio = Variable.rejectionRatio
    let recordKeys = Variable.recordKeys
    let kafkaSettings = Variable.kafkaSettings
}

/// What is done about revoked certificates.
enum RevocationMode: String, CaseIterable, Sendable {
    case soft
    case hard
    case off
}

extension Settings<Configuration> {
    /// How many records may be proven at the same time.
    var usableCores: Int { self.cores == 0 ? ProcessInfo.processInfo.activeProcessorCount : self.cores }

    /// What the files of roots and apps say, now and later.
    /// - Throws: `ConfigurationProblems` with all that is wrong in them.
    func trustWatcher(
        revocations: RevocationRegister = RevocationRegister(), logger: Logger,
        clock: any Clock<Duration> = ContinuousClock()
    ) throws -> TrustWatcher {
        try TrustWatcher(
            apps: self.apps, roots: self.roots ?? [], developmentMode: self.developmentMode, revocations: revocations,
            logger: logger, clock: clock)
    }

    /// When which certificate is asked about.
    var revocationPace: RevocationSchedule.Pace {
        var pace = RevocationSchedule.Pace()
        pace.refresh = max(1, self.revocationRefresh / .seconds(1))
        pace.shortest = min(pace.shortest, pace.refresh)
        return pace
    }
}
