import Chassis
import Contracts
import Postgres
import Refunds
import ServerAPI
import Storage

import struct Foundation.Date

/// Decides the refund requests that are due and sends the answers.
///
/// The decision is stored before Apple is told, so that a process that ends in between leaves the same bytes to the next one: Apple
/// may get an answer twice, and never two different ones. Safe to run concurrently.
struct RefundJob: Sendable {
    let store: RefundDecisionStore
    let clients: [CoverageStore.App: AppStoreServerAPI]
    let now: @Sendable () -> Date
    let logger: Logger

    /// How many answers are under way to Apple; its limit is 50 a second.
    static let width = 8
    /// Requests of one read.
    static let batch = 200
    /// How long an app without a key, or with one that Apple rejects, waits before the next attempt, and a request that cannot be
    /// looked at. Seconds.
    static let keyPause = 300.0
    /// No answer is begun after this time in a turn, so that the turn ends while Apple answers nothing.
    static let longest: Duration = .seconds(120)

    func turn() async throws {
        let end = ContinuousClock.now + Self.longest
        let pauses = AppPauses()
        while true {
            let due = try await store.due(at: now(), limit: Self.batch)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (place, key) in due.enumerated() where ContinuousClock.now < end {
                    if place >= Self.width { try await group.next() }
                    group.addTask { try await answer(key, pauses) }
                }
                try await group.waitForAll()
            }
            // Each that was read is planned for later, or done.
            guard due.count == Self.batch, ContinuousClock.now < end else { return }
        }
    }

    /// A request that the database cannot be asked about is looked at later and stops no other.
    private func answer(_ key: RefundKey, _ pauses: AppPauses) async throws {
        do {
            try await take(key, pauses)
        } catch let error as PostgresError where error.meaning != .connectionLost && error.meaning != .notPermitted {
            logger.error(
                "Refund request cannot be looked at; trying again in five minutes: \(error)",
                metadata: Self.metadata(key))
            try await store.postpone(key, to: now().addingTimeInterval(Self.keyPause))
        }
    }

    private func take(_ key: RefundKey, _ pauses: AppPauses) async throws {
        let (turn, bundleId) = try await store.look(at: key, now: now())
        switch turn {
        case .nothing, .waiting: return
        case .withheld(let reason):
            count("withheld", bundleId, key)
            logger.info(
                "Refund request is not answered",
                metadata: Self.metadata(key).merging(["reason": "\(reason.rawValue)"]) { $1 })
        case .withdrawn:
            count("withdrawn", bundleId, key)
            logger.notice(
                "Consent was withdrawn; the answer to a refund request is not sent", metadata: Self.metadata(key))
        case .missed:
            count("missed", bundleId, key)
            logger.error(
                "Refund request was not answered within 12 hours; Apple decides alone", metadata: Self.metadata(key))
        case .unreadable(let faults):
            logger.error(
                "Refund policy cannot be read by this build; use a newer one, or set the policy again: \(faults)",
                metadata: Self.metadata(key))
        case .send(let sending): try await send(sending, pauses)
        }
    }

    private func send(_ sending: RefundDecisionStore.Sending, _ pauses: AppPauses) async throws {
        let app = CoverageStore.App(sending.key.environment, sending.bundleId)
        let result: RefundDecisionStore.Result
        if let until = await pauses.end(of: app, at: now()) {
            result = .again(until)
        } else if let client = clients[app] {
            result = try await attempt(sending, client, pauses)
        } else {
            logger.warning(
                "No App Store Server API key for app; the answer to a refund request waits for it",
                metadata: Self.metadata(sending))
            result = .again(now().addingTimeInterval(Self.keyPause))
        }
        try await store.settle(sending, result, at: now())
        switch result {
        case .accepted:
            count("answered", sending.bundleId, sending.key)
            logger.info("Apple took the answer to a refund request", metadata: Self.metadata(sending))
        case .rejected(let code):
            count("failed", sending.bundleId, sending.key)
            logger.error(
                "Apple rejected the answer to a refund request; it is not sent again",
                metadata: Self.metadata(sending).merging(["code": "\(code)"]) { $1 })
        case .again(let moment):
            logger.debug(
                "Apple has not taken the answer to a refund request; retrying",
                metadata: Self.metadata(sending).merging(["at": "\(moment)"]) { $1 })
        }
    }

    private func attempt(
        _ sending: RefundDecisionStore.Sending, _ client: AppStoreServerAPI, _ pauses: AppPauses
    ) async throws -> RefundDecisionStore.Result {
        do {
            try await client.sendConsumptionInformation(
                sending.key.transactionId, body: Array(sending.body.utf8), version: sending.apiVersion)
            return .accepted
        } catch let error as APIError {
            guard let least = RetryPause(after: error, failures: 0, now: now()) else {
                guard case .rejected(let rejection) = error else { return .rejected("invalid request") }
                return .rejected(rejection.code.map { "\($0.rawValue)" } ?? "HTTP \(rejection.status)")
            }
            var pause = max(RefundProgress.pause(afterAttempts: sending.attempts), Double(least.seconds))
            if case .unauthorized = error {
                logger.warning(
                    "Apple rejects the keys of app; the answer to a refund request waits: \(error)",
                    metadata: Self.metadata(sending))
                pause = max(pause, Self.keyPause)
            }
            // Of Apple's Retry-After only what the pause has: a wrong one may lie beyond the twelve hours.
            let next = now().addingTimeInterval(pause)
            if least.affectsApp {
                await pauses.pause(CoverageStore.App(sending.key.environment, sending.bundleId), until: next)
            }
            return .again(next)
        }
    }

    private func count(_ outcome: String, _ bundleId: String, _ key: RefundKey) {
        Metric.refundAnswers.counter(bundleId, key.environment.rawValue, outcome).increment()
    }

    /// Ids of transactions name no person; bodies are never logged.
    private static func metadata(_ key: RefundKey) -> Logger.Metadata {
        ["environment": "\(key.environment.rawValue)", "transaction": "\(key.transactionId)"]
    }

    private static func metadata(_ sending: RefundDecisionStore.Sending) -> Logger.Metadata {
        metadata(sending.key).merging(["app": "\(sending.bundleId)", "attempt": "\(sending.attempts)"]) { $1 }
    }
}

/// The apps for which Apple takes nothing in this turn: their other answers wait too, so that those of the other apps do not.
actor AppPauses {
    private var ends: [CoverageStore.App: Date] = [:]

    func pause(_ app: CoverageStore.App, until end: Date) { ends[app] = max(end, ends[app] ?? end) }

    /// Nil where none lasts: an answer that waited for one that is over would be due again at once, and be taken again and again
    /// without being sent.
    func end(of app: CoverageStore.App, at now: Date) -> Date? { ends[app].flatMap { $0 > now ? $0 : nil } }
}
