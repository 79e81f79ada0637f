import Foundation
import Postgres
import Storage

/// Coverage, and the recovery in progress.
package struct RecoveryStatus: Sendable, Encodable, Equatable {
    /// Until when one kind of comparison with Apple's history is complete for one app.
    package struct AppCoverage: Sendable, Encodable, Equatable {
        package var bundleId: String
        package var environment: String
        package var kind: String
        package var completeUntil: Date
    }

    /// Notifications in Apple's history that the ledger does not have.
    package struct Missing: Sendable, Encodable, Equatable {
        package var bundleId: String
        package var environment: String
        package var count: Int64
    }

    /// Past days that are not complete: not every notification that Apple lists is in the ledger or rejected.
    package struct Days: Sendable, Encodable, Equatable {
        package var bundleId: String
        package var environment: String
        package var waiting: Int64
        package var givenUp: Int64
    }

    /// An open or failed window.
    package struct Window: Sendable, Encodable, Equatable {
        package var id: String
        package var reason: String
        package var state: String
        package var openedAt: Date
        package var lastError: String?
    }

    /// The newest test notification of an app.
    package struct CanaryState: Sendable, Encodable, Equatable {
        package var bundleId: String
        package var environment: String
        package var requestedAt: Date
        package var arrivedAt: Date?
        /// Nil while it is pending.
        package var outcome: String?
        package var attemptResult: String?
    }

    /// Postponed requests for single customers.
    package struct Postponed: Sendable, Encodable, Equatable {
        package var bundleId: String
        package var environment: String
        package var requests: Int64
        package var since: Date
        package var lastError: String
    }

    package var coverage: [AppCoverage]
    package var missing: [Missing]
    package var incompleteDays: [Days]
    /// By state.
    package var windows: [String: Int64]
    /// Open and failed windows, oldest first.
    package var unsettled: [Window]
    package var canaries: [CanaryState]
    /// Longest waiting first.
    package var postponed: [Postponed]

    /// Acceptable age of an open window.
    package static let patience: TimeInterval = 3600
    /// Acceptable age of the last check for failed deliveries, which runs every few minutes.
    package static let checkAge: TimeInterval = 7200

    package init(
        coverage: [AppCoverage] = [], missing: [Missing] = [], incompleteDays: [Days] = [],
        unsettled: [Window] = [], canaries: [CanaryState] = [], postponed: [Postponed] = []
    ) {
        self.coverage = coverage
        self.missing = missing
        self.incompleteDays = incompleteDays
        windows = [:]
        self.unsettled = unsettled
        self.canaries = canaries
        self.postponed = postponed
    }

    package init(_ connection: PostgresConnection, now: Date) async throws {
        let store = CoverageStore(connection)
        let status = try await store.status()
        coverage = try await store.coverage().map {
            AppCoverage(
                bundleId: $0.bundleId, environment: $0.environment.rawValue, kind: $0.kind.rawValue,
                completeUntil: $0.completeUntil)
        }
        missing = status.missing.map {
            Missing(bundleId: $0.key.bundleId, environment: $0.key.environment.rawValue, count: $0.value)
        }.sorted { ($0.bundleId, $0.environment) < ($1.bundleId, $1.environment) }
        incompleteDays = status.days.map {
            Days(
                bundleId: $0.key.bundleId, environment: $0.key.environment.rawValue, waiting: $0.value.waiting,
                givenUp: $0.value.givenUp)
        }.sorted { ($0.bundleId, $0.environment) < ($1.bundleId, $1.environment) }
        windows = Dictionary(uniqueKeysWithValues: status.windows.map { ($0.key.rawValue, $0.value) })
        var filter = RecoveryWindowStore.Filter()
        filter.states = [.open, .fetched, .failed]
        filter.onlyWhole = true
        unsettled = try await RecoveryWindowStore(connection).windows(filter).map {
            Window(
                id: $0.id.uuidString.lowercased(), reason: $0.reason.rawValue, state: $0.state.rawValue,
                openedAt: $0.createdAt, lastError: $0.lastError)
        }.sorted { $0.openedAt < $1.openedAt }
        canaries = try await CanaryStore(connection).newestOfEachApp(at: now).map(CanaryState.init)
        postponed = try await PostponedRequestStore(connection).waiting().map {
            Postponed(
                bundleId: $0.bundleId, environment: $0.environment.rawValue, requests: $0.requests, since: $0.since,
                lastError: $0.lastError)
        }
    }

    package func lines(at now: Date) -> [String] {
        func age(_ date: Date) -> String { TimeSpan.age(now.timeIntervalSince(date)) }
        var lines = coverage.map {
            "\($0.bundleId) \($0.environment): "
                + ($0.kind == Coverage.Kind.failures.rawValue ? "failed deliveries checked" : "days complete")
                + " until \($0.completeUntil.text), \(age($0.completeUntil)) ago"
        }
        if coverage.isEmpty {
            lines.append("nothing compared with Apple's history yet: check that the scheduler runs with API keys")
        }
        lines += missing.map { "\($0.bundleId) \($0.environment): \($0.count) missing" }
        lines += incompleteDays.filter { $0.waiting + $0.givenUp > 0 }.map {
            "\($0.bundleId) \($0.environment): \($0.waiting) incomplete days, \($0.givenUp) given up"
                + ($0.givenUp > 0 ? ": see storekeeper coverage" : "")
        }
        let counts = RecoveryWindow.State.allCases.compactMap { state in
            windows[state.rawValue].map { "\($0) \(state.rawValue)" }
        }
        lines.append("windows of Apple's history: \(counts.isEmpty ? "none" : counts.joined(separator: ", "))")
        lines += unsettled.prefix(5).map {
            "  \($0.id) \($0.reason), \($0.state), opened \(age($0.openedAt)) ago\($0.lastError.map { ": \($0)" } ?? "")"
        }
        lines += postponed.map {
            "\($0.bundleId) \($0.environment): \($0.requests) customers' histories cannot be fetched from Apple, the oldest for \(age($0.since)): "
                + $0.lastError
        }
        lines += canaries.map { canary in
            let end = canary.arrivedAt.map {
                "arrived after \(TimeSpan.age($0.timeIntervalSince(canary.requestedAt)))"
            }
            return "test notification \(canary.bundleId) \(canary.environment), \(age(canary.requestedAt)) ago: "
                + (end ?? canary.outcome ?? "pending")
        }
        return lines
    }
}

extension RecoveryStatus.CanaryState {
    package init(_ canary: Canary) {
        self.init(
            bundleId: canary.bundleId, environment: canary.environment.rawValue, requestedAt: canary.requestedAt,
            arrivedAt: canary.arrivedAt, outcome: canary.outcome?.rawValue, attemptResult: canary.attemptResult)
    }
}
