import AppleAccess
import Chassis
import Database
import Pipeline
import Storage

import struct Foundation.TimeInterval

/// What the scheduler can be told.
struct Configuration: WorkerVariables, DatabaseVariables {
    let brokers = Variable.kafkaBrokers
    let database = Variable.databaseURL
    let databasePasswordFile = Variable.databasePasswordFile
    let schema = Variable.databaseSchema
    let apps = Variable.appsFile
    let keys = Variable.apiKeysFile
    let api = Variable.apiURL.optional
    let roots = Variable.rootFiles.optional
    let developmentMode = Variable.developmentMode
    let limitShare = Variable.apiLimitShare(default: "0.7")
    let failuresInterval = Variable.duration(
        "STOREKEEPER_FAILURES_INTERVAL", "between two questions for what Apple could not deliver", default: "5m")
    let failuresOverlap = Variable.duration(
        "STOREKEEPER_FAILURES_OVERLAP",
        "how far such a question reaches back behind the last one, because Apple records a failure when it is over",
        default: "15m")
    let sweepDelay = Variable.duration(
        "STOREKEEPER_SWEEP_DELAY", "after the end of a day (UTC) until all of it is compared with the ledger",
        default: "1h")
    let coverageReach = Variable.duration(
        "STOREKEEPER_COVERAGE_REACH",
        "how far back coverage of an app begins at most: it begins with the app's first notification in the ledger",
        default: "30d")
    let sliceLength = Variable.duration(
        "STOREKEEPER_SLICE_LENGTH", "longer windows of history are cut, and their parts fetched side by side",
        default: "6h")
    let longOutage = Variable.duration(
        "STOREKEEPER_LONG_OUTAGE", "of windows from this length on renewals and expiries are fetched first",
        default: "12h")
    let fetches = Variable.int(
        "STOREKEEPER_FETCHES",
        "windows that wait for Apple at the same time: its limit divided by the answers one may expect in a second",
        default: "16", in: 1...64)
    let windowLease = Variable.duration(
        "STOREKEEPER_WINDOW_LEASE",
        "how long a window waits for a scheduler that vanished; a call to Apple may take half of it", default: "60s")
    let canaryInterval = Variable.duration(
        "STOREKEEPER_CANARY_INTERVAL", "between two test notifications of an app and environment; 0s sends none",
        default: "1h")
    let canaryPatience = Variable.duration(
        "STOREKEEPER_CANARY_PATIENCE", "from asking for a test notification until it has to be in the ledger",
        default: "5m")
    let overdueAfter = Variable.duration(
        "STOREKEEPER_OVERDUE_AFTER", "after the end of a subscription's period until Apple is asked what became of it",
        default: "2h")
    let overdueForesight = Variable.duration(
        "STOREKEEPER_OVERDUE_FORESIGHT",
        "before the end of a period that renews by itself: who was not renewed by then is asked about, as far as the budget "
            + "goes; 0s asks about none",
        default: "1h")
    let overdueBudget = Variable.int(
        "STOREKEEPER_OVERDUE_BUDGET", "purchases a minute that Apple is asked about at most; 0 asks about none",
        default: "10", in: 0...1000)
    let ledgerDays = Variable.ledgerDays
    let sightingDays = Variable.sightingDays
    let batch = Variable.batchLimit
    let rejectionRun = Variable.rejectionRun
    let rejectionRatio = Variable.rejectionRatio
    let kafkaSettings = Variable.kafkaSettings

    func problems(in settings: Settings<Configuration>) -> [ConfigurationProblem] {
        let positive: [(String, Duration)] = [
            ("STOREKEEPER_FAILURES_INTERVAL", settings.failuresInterval),
            ("STOREKEEPER_SLICE_LENGTH", settings.sliceLength), ("STOREKEEPER_LONG_OUTAGE", settings.longOutage),
            ("STOREKEEPER_CANARY_PATIENCE", settings.canaryPatience),
        ]
        var problems = positive.filter { $0.1 < .seconds(1) }.map {
            ConfigurationProblem.unusable(name: $0.0, reason: "has to be at least 1s")
        }
        if settings.windowLease < .seconds(4) {
            problems.append(
                .unusable(
                    name: "STOREKEEPER_WINDOW_LEASE",
                    reason: "has to be at least 4s: a page takes a call to Apple and a round trip to the log"))
        }
        if settings.canaryInterval > .zero, settings.canaryInterval < settings.canaryPatience {
            problems.append(
                ConfigurationProblem(
                    "STOREKEEPER_CANARY_INTERVAL has to be at least as long as STOREKEEPER_CANARY_PATIENCE, or 0s."))
        }
        return problems + settings.kafkaProblems
    }
}

extension Settings<Configuration> {
    var failuresPlan: FailuresPlan {
        FailuresPlan(interval: self.failuresInterval.inSeconds, overlap: self.failuresOverlap.inSeconds)
    }

    var sweepPlan: SweepPlan { SweepPlan(delay: self.sweepDelay.inSeconds) }

    var slicing: Slicing {
        Slicing(length: self.sliceLength.inSeconds, longOutage: self.longOutage.inSeconds)
    }
}

extension Duration {
    var inSeconds: TimeInterval { self / .seconds(1) }
}
