import Bootstrap
import Chassis
import Pipeline
import Storage

import struct Foundation.TimeInterval

/// The scheduler's environment variables.
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
    let limitShare = Variable.apiLimitShare
    let failuresInterval = Variable.duration(
        "STOREKEEPER_FAILURES_INTERVAL", "interval between two checks for notifications that Apple could not deliver",
        default: "5m")
    let failuresOverlap = Variable.duration(
        "STOREKEEPER_FAILURES_OVERLAP",
        "overlap with the previous check, because Apple records a failed delivery only once it has ended",
        default: "15m")
    let followedApps = Variable<[String]>.list(
        "STOREKEEPER_FOLLOWED_APPS",
        "bundle ids of the apps whose notifications Apple sends to another server: all of their notifications are fetched from "
            + "Apple's history, and no test notifications are requested"
    ).optional
    let followInterval = Variable.duration(
        "STOREKEEPER_FOLLOW_INTERVAL", "interval between two fetches for an app of STOREKEEPER_FOLLOWED_APPS",
        default: "15m")
    let sweepDelay = Variable.duration(
        "STOREKEEPER_SWEEP_DELAY", "delay from the end of a day (UTC) to its comparison with Apple's history",
        default: "1h")
    let coverageReach = Variable.duration(
        "STOREKEEPER_COVERAGE_REACH",
        "how far back the comparison with Apple's history begins for an app that is new to the scheduler, and never before "
            + "its first stored notification",
        default: "30d")
    let sliceLength = Variable.duration(
        "STOREKEEPER_SLICE_LENGTH",
        "length above which a window, a span of Apple's history to fetch, is split into parts that are fetched in parallel",
        default: "6h")
    let longOutage = Variable.duration(
        "STOREKEEPER_LONG_OUTAGE",
        "length of an outage from which on renewals and expiries are fetched before the rest",
        default: "12h")
    let fetches = Variable.int(
        "STOREKEEPER_FETCHES",
        "number of windows fetched in parallel; an eighth of them, and at least one of several, is for regular checks alone",
        default: "16", in: 1...64)
    let windowLease = Variable.duration(
        "STOREKEEPER_WINDOW_LEASE",
        "lease of a window; another scheduler takes over after it expires (calls to Apple time out after half of it)",
        default: "60s")
    let canaryInterval = Variable.duration(
        "STOREKEEPER_CANARY_INTERVAL",
        "interval between two test notifications of an app and environment; 0s disables them",
        default: "1h")
    let canaryPatience = Variable.duration(
        "STOREKEEPER_CANARY_PATIENCE",
        "time limit from the request of a test notification to its arrival in the database",
        default: "5m")
    let overdueAfter = Variable.duration(
        "STOREKEEPER_OVERDUE_AFTER",
        "delay from the end of a subscription's period to the request for its history from Apple, if no renewal and no "
            + "expiry was reported",
        default: "2h")
    let overdueForesight = Variable.duration(
        "STOREKEEPER_OVERDUE_FORESIGHT",
        "time before the end of a subscription's period at which its history is requested, if no renewal was reported; "
            + "0s disables it",
        default: "1h")
    let overdueBudget = Variable.int(
        "STOREKEEPER_OVERDUE_BUDGET",
        "maximum number of requests per minute because of STOREKEEPER_OVERDUE_AFTER and _FORESIGHT; 0 disables them",
        default: "10", in: 0...1000)
    let ledgerDays = Variable.ledgerDays
    let seenDays = Variable.seenDays
    let batch = Variable.batchLimit
    let rejectionRun = Variable.rejectionRun
    let rejectionRatio = Variable.rejectionRatio
    let recordKeys = Variable.recordKeys
    let kafkaSettings = Variable.kafkaSettings

    func problems(in settings: Settings<Configuration>) -> [ConfigurationProblem] {
        let positive: [(String, Duration)] = [
            ("STOREKEEPER_FAILURES_INTERVAL", settings.failuresInterval),
            ("STOREKEEPER_FOLLOW_INTERVAL", settings.followInterval),
            ("STOREKEEPER_SLICE_LENGTH", settings.sliceLength), ("STOREKEEPER_LONG_OUTAGE", settings.longOutage),
            ("STOREKEEPER_CANARY_PATIENCE", settings.canaryPatience),
        ]
        var problems = positive.filter { $0.1 < .seconds(1) }.map {
            ConfigurationProblem.unusable(name: $0.0, reason: "must be at least 1s")
        }
        if settings.windowLease < .seconds(4) {
            problems.append(
                .unusable(
                    name: "STOREKEEPER_WINDOW_LEASE",
                    reason: "must be at least 4s: a page takes a call to Apple and a round trip to Kafka"))
        }
        if settings.followInterval > .seconds(1800) {
            problems.append(
                .unusable(
                    name: "STOREKEEPER_FOLLOW_INTERVAL",
                    reason:
                        "must be at most 30m: after an hour without a fetch the alerts say that the scheduler does not work"
                ))
        }
        if settings.canaryInterval > .zero, settings.canaryInterval < settings.canaryPatience {
            problems.append(
                ConfigurationProblem(
                    "STOREKEEPER_CANARY_INTERVAL must be at least as long as STOREKEEPER_CANARY_PATIENCE, or 0s."))
        }
        return problems + settings.workerProblems
    }
}

extension Settings<Configuration> {
    var failuresPlan: FailuresPlan {
        FailuresPlan(
            interval: self.failuresInterval.inSeconds, overlap: self.failuresOverlap.inSeconds, followed: self.followed,
            followInterval: self.followInterval.inSeconds)
    }

    var followed: Set<String> { Set(self.followedApps ?? []) }

    /// Nothing is fetched for an app that is not configured, and with a typing error its test notifications would go on to the other server.
    /// - Parameter known: the bundle ids of the file of apps.
    func unknownFollowedApps(among known: [String]) -> [ConfigurationProblem] {
        followed.subtracting(known).sorted().map { app in
            let names = known.isEmpty ? "none" : known.joined(separator: ", ")
            return .unusable(
                name: "STOREKEEPER_FOLLOWED_APPS",
                reason:
                    "names \(app), which is not in STOREKEEPER_APPS_FILE (apps there: \(names)); correct the bundle id, or add the "
                    + "app to the file with an API key")
        }
    }

    var sweepPlan: SweepPlan { SweepPlan(delay: self.sweepDelay.inSeconds) }

    var partitioner: WindowPartitioner {
        WindowPartitioner(length: self.sliceLength.inSeconds, longOutage: self.longOutage.inSeconds)
    }
}

extension Duration {
    var inSeconds: TimeInterval { self / .seconds(1) }
}
