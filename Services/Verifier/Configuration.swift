import AppStore
import Bootstrap
import Chassis
import Foundation
import Pipeline

/// Configuration of the verifier.
struct Configuration: WorkerVariables {
    let brokers = Variable.kafkaBrokers
    let apps = Variable.appsFile
    let roots = Variable.rootFiles.optional
    let developmentMode = Variable.developmentMode
    let revocation = Variable<RevocationMode>.choice(
        "STOREKEEPER_REVOCATION",
        "soft: reject what an OCSP responder calls revoked; hard: also what no responder confirms; off: no OCSP requests",
        default: "soft")
    let revocationRefresh = Variable.duration(
        "STOREKEEPER_REVOCATION_REFRESH", "maximum time between two OCSP requests for a certificate", default: "1h")
    let cores = Variable.int(
        "STOREKEEPER_VERIFIER_CORES", "number of records verified in parallel; 0 is one per core", default: "0",
        in: 0...1024)
    let deferredShare = Variable.double(
        "STOREKEEPER_VERIFIER_DEFERRED_SHARE",
        "share of one core for what waits in notifications.deferred: certificate chains that were never verified before, "
            + "mostly forged ones, beyond the first \(ChainBudget.perSecond) a second, and repeats of rejected payloads",
        default: "0.25", in: 0.01...1)
    let batch = Variable.batchLimit
    let rejectionRun = Variable.rejectionRun
    let rejectionRatio = Variable.rejectionRatio
    let recordKeys = Variable.recordKeys
    let kafkaSettings = Variable.kafkaSettings
}

/// How revoked certificates are handled.
enum RevocationMode: String, CaseIterable, Sendable {
    case soft
    case hard
    case off
}

extension Settings<Configuration> {
    /// Number of records verified in parallel.
    var usableCores: Int { self.cores == 0 ? ProcessInfo.processInfo.activeProcessorCount : self.cores }

    /// Watches the files of roots and apps.
    /// - Throws: `ConfigurationProblems` with all problems.
    func trustWatcher(
        revocations: RevocationRegister = RevocationRegister(), logger: Logger,
        clock: any Clock<Duration> = ContinuousClock()
    ) throws -> TrustWatcher {
        try TrustWatcher(
            apps: self.apps, roots: self.roots ?? [], developmentMode: self.developmentMode, revocations: revocations,
            logger: logger, clock: clock)
    }

    /// When each certificate is checked.
    var revocationPace: RevocationSchedule.Pace {
        var pace = RevocationSchedule.Pace()
        pace.refresh = max(1, self.revocationRefresh / .seconds(1))
        pace.shortest = min(pace.shortest, pace.refresh)
        return pace
    }
}
