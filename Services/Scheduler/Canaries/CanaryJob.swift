import AppStore
import Chassis
import Contracts
import ServerAPI
import Storage

import struct Foundation.Date
import struct Foundation.TimeInterval
import struct Foundation.UUID

/// Requests test notifications at intervals and follows them into the ledger.
///
/// A heartbeat shows that ingest runs; only a canary shows that Apple reaches it and that the whole pipeline works.
actor CanaryJob {
    private let canaries: CanaryStore
    private let windows: RecoveryWindowStore
    private let clients: @Sendable () -> [CoverageStore.App: AppStoreServerAPI]
    private let followed: Set<String>
    private let interval: TimeInterval
    private let patience: TimeInterval
    private let now: @Sendable () -> Date
    private let newId: @Sendable () -> UUID
    private let logger: Logger
    /// Backoff after a rejected request.
    private var notBefore: [CoverageStore.App: Date] = [:]

    /// - Parameters:
    ///   - followed: bundle ids of the apps whose test notifications Apple would send to another server: none is requested.
    ///   - interval: between two requests for an app and environment.
    ///   - patience: from the request to the arrival.
    init(
        canaries: CanaryStore, windows: RecoveryWindowStore,
        clients: @escaping @Sendable () -> [CoverageStore.App: AppStoreServerAPI], followed: Set<String> = [],
        interval: TimeInterval, patience: TimeInterval, now: @escaping @Sendable () -> Date,
        newId: @escaping @Sendable () -> UUID, logger: Logger
    ) {
        self.canaries = canaries
        self.windows = windows
        self.clients = clients
        self.followed = followed
        self.interval = interval
        self.patience = patience
        self.now = now
        self.newId = newId
        self.logger = logger
    }

    func turn() async throws {
        var runner = PerAppRunner("canary", logger: logger)
        let clients = clients()
        for canary in try await canaries.waiting() {
            let app = CoverageStore.App(canary.environment, canary.bundleId)
            try await runner.attempt(app) { try await follow(canary, clients[app]) }
        }
        for (app, client) in clients where !followed.contains(app.bundleId) {
            try await runner.attempt(app) { try await send(app, client) }
        }
        try runner.throwIfAnyFailed()
    }

    private func send(_ app: CoverageStore.App, _ client: AppStoreServerAPI) async throws {
        if let date = notBefore[app], date > now(), date.timeIntervalSince(now()) <= max(interval, 300) { return }
        // One that lies ahead was requested by a clock that was wrong, and is none to wait for.
        let last = try await canaries.lastRequested(app.environment, app.bundleId, until: now())
        if let last, now().timeIntervalSince(last) < interval { return }
        do {
            let token = try await client.requestTestNotification()
            try await canaries.add(
                Canary(environment: app.environment, bundleId: app.bundleId, token: token, requestedAt: now()))
        } catch let error as APIError {
            notBefore[app] = now().addingTimeInterval(error.code == .serverNotificationURLNotFound ? interval : 300)
            Metric.canaries.counter(app.bundleId, app.environment.rawValue, "rejected").increment()
            logger.warning(
                "Apple rejected the request for a test notification; retrying later: \(error)",
                metadata: ["app": "\(app.bundleId)", "environment": "\(app.environment.rawValue)"])
        }
    }

    private func follow(_ canary: Canary, _ client: AppStoreServerAPI?) async throws {
        // By a clock that was wrong: it would be followed until that time.
        if canary.requestedAt.timeIntervalSince(now()) > patience { return try await canaries.withdraw(canary) }
        var canary = canary
        if let client { try await ask(client, about: &canary) }
        if let uuid = canary.notificationUUID { canary.arrivedAt = try await canaries.arrival(of: uuid) }
        canary.outcome = CanaryEvaluation.outcome(of: canary, patience: patience, now: now())
        // It was requested before following began, and Apple may have sent it to the other server: that it is missing says nothing.
        if followed.contains(canary.bundleId), let outcome = canary.outcome, outcome != .arrived {
            try await canaries.withdraw(canary)
            logger.info(
                "Test notification withdrawn: Apple sends those of an app that is followed to another server",
                metadata: ["app": "\(canary.bundleId)", "environment": "\(canary.environment.rawValue)"])
            return
        }
        // Opened first: a superfluous window is harmless, a missing one is not.
        if canary.outcome?.isAlarming == true { try await openWindow(about: canary) }
        try await canaries.update(canary, at: now())
        guard let outcome = canary.outcome else { return }
        Metric.canaries.counter(canary.bundleId, canary.environment.rawValue, outcome.rawValue).increment()
        if let arrived = canary.arrivedAt {
            Metric.canaryTime.timer(canary.environment.rawValue)
                .recordSeconds(arrived.timeIntervalSince(canary.requestedAt))
        }
        guard outcome.isAlarming else { return }
        logger.error(
            "Test notification did not arrive (\(outcome.rawValue)); checking Apple's history",
            metadata: [
                "app": "\(canary.bundleId)", "environment": "\(canary.environment.rawValue)",
                "requested": "\(canary.requestedAt)", "apple": "\(canary.attemptResult ?? "unknown")",
            ])
    }

    /// Covers all notifications that may be missing for the same reason.
    private func openWindow(about canary: Canary) async throws {
        let scope = RecoveryWindow.Scope(
            environment: canary.environment, bundleId: canary.bundleId,
            from: canary.requestedAt.addingTimeInterval(-interval), to: now())
        try await windows.open([.init(id: newId(), scope: scope, reason: .canary)], at: now())
    }

    /// Reads Apple's status, which exists once Apple has sent the notification.
    private func ask(_ client: AppStoreServerAPI, about canary: inout Canary) async throws {
        do {
            let status = try await client.testNotificationStatus(canary.token)
            if let payload = status.signedPayload {
                canary.notificationUUID = UncheckedNotification(payload)?.notificationUUID
            }
            let attempts = status.sendAttempts.filter { $0.attemptDate != nil }
                .sorted { ($0.attemptDate ?? .distantPast) < ($1.attemptDate ?? .distantPast) }
            canary.attemptedAt = attempts.first?.attemptDate
            canary.attemptResult = attempts.last?.sendAttemptResult?.rawValue
        } catch let error as APIError where error.code == .testNotificationNotFound {
            return
        } catch let error as APIError {
            logger.debug("Could not read the status of a test notification; retrying: \(error)")
        }
    }
}
