import AppStore
import Chassis
import Contracts
import Refunds
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
    /// How long an app without a key, or with one that Apple rejects, waits before the next attempt. Seconds.
    static let keyPause = 300.0

    func turn() async throws {
        while true {
            let due = try await store.due(at: now(), limit: Self.batch)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (place, key) in due.enumerated() {
                    if place >= Self.width { try await group.next() }
                    group.addTask { try await answer(key) }
                }
                try await group.waitForAll()
            }
            // Each that was read is planned for later, or done.
            guard due.count == Self.batch else { return }
        }
    }

    private func answer(_ key: RefundKey) async throws {
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
        case .send(let sending): try await send(sending)
        }
    }

    private func send(_ sending: RefundDecisionStore.Sending) async throws {
        let app = CoverageStore.App(sending.key.environment, sending.bundleId)
        let result: RefundDecisionStore.Result
        if let client = clients[app] {
            result = try await attempt(sending, client)
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
        _ sending: RefundDecisionStore.Sending, _ client: AppStoreServerAPI
    ) async throws -> RefundDecisionStore.Result {
        do {
            try await client.sendConsumptionInformation(
                sending.key.transactionId, body: Array(sending.body.utf8), version: sending.apiVersion)
            return .accepted
        } catch let error as APIError {
            let pause = RefundProgress.pause(afterAttempts: sending.attempts)
            switch error {
            case .rejected(let rejection) where !rejection.isRetryable && (400..<500).contains(rejection.status):
                return .rejected(rejection.code.map { "\($0.rawValue)" } ?? "HTTP \(rejection.status)")
            case .invalidRequest: return .rejected("invalid request")
            case .unauthorized:
                logger.warning(
                    "Apple rejects the keys of app; the answer to a refund request waits: \(error)",
                    metadata: Self.metadata(sending))
                return .again(now().addingTimeInterval(max(pause, Self.keyPause)))
            case .rejected, .rateLimited, .unreachable, .unsettled, .unreadable:
                return .again(max(now().addingTimeInterval(pause), error.retryAfter ?? .distantPast))
            }
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
