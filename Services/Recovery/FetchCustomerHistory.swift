import AppStore
import Contracts
import Pipeline
import ServerAPI
import Storage

import struct Foundation.Date

/// Fetches one customer's history from Apple and keeps what the ledger does not have.
///
/// Makes three queries: the notification history, which reaches back 180 days (Sandbox: 30); the transaction
/// history from the last revision, which is unlimited and repeats changed transactions, refunds included; and the
/// subscription statuses. While Apple is unavailable for an app, its requests are postponed and no other app waits.
struct FetchCustomerHistory: Stage {
    /// Nil without API keys.
    let clients: APIClients?
    let items: RecoveryItemStore
    let answers: RecoveryAnswerStore
    let knownState: KnownState
    /// Not ahead of Apple's clock: a status is dated by it, and would be newer than what Apple signs after it.
    let now: @Sendable () -> Date
    /// For each query: longer than Apple takes, short enough for the records behind it.
    var deadline: Duration = .seconds(10)
    let circuitBreaker = CircuitBreaker()

    /// Runs all requests in parallel; the clients enforce Apple's rate limits.
    func process(_ deliveries: [Delivery<RecoveryRequest>]) async throws -> [StageResult<
        CustomerHistoryResult, CustomerHistoryReason
    >] {
        try await withThrowingTaskGroup(of: (Int, StageResult<CustomerHistoryResult, CustomerHistoryReason>).self) {
            group in
            for (index, delivery) in deliveries.enumerated() {
                group.addTask { (index, try await result(on: delivery.message)) }
            }
            var results: [Int: StageResult<CustomerHistoryResult, CustomerHistoryReason>] = [:]
            for try await (index, result) in group { results[index] = result }
            return deliveries.indices.compactMap { results[$0] }
        }
    }

    private func result(on request: RecoveryRequest) async throws -> StageResult<
        CustomerHistoryResult, CustomerHistoryReason
    > {
        let environment = AppStoreEnvironment(rawValue: request.environment.rawValue)
        guard AppStoreServerAPI.address(of: environment) != nil else { return .discard(.withoutHistory) }
        guard var client = clients?[request.bundleId, environment] else {
            return .forward(.postponed(request, .withoutKey))
        }
        let app = CoverageStore.App(request.environment, request.bundleId)
        if let pause = circuitBreaker.pause(of: app, now: now()) { return .forward(.postponed(request, pause)) }
        client.deadline = deadline
        do {
            return try await history(client, request)
        } catch let error as APIError {
            let decision = RetryDecision(error, now: now())
            if case .pause(let pause, true) = decision { circuitBreaker.begin(pause, of: app, now: now()) }
            return decision.result(on: request)
        }
    }

    private func history(
        _ client: AppStoreServerAPI, _ request: RecoveryRequest
    ) async throws -> StageResult<CustomerHistoryResult, CustomerHistoryReason> {
        var history = CustomerHistory(request: request)
        var questions = 0
        func ask(_ question: () async throws -> Void) async throws {
            questions += 1
            do {
                try await question()
            } catch let error as APIError {
                guard case .rejected(let rejection) = error, rejection.isNotFound else { throw error }
                history.rejections.append("\(rejection.endpoint.rawValue): \(rejection.message)")
            }
        }
        try await ask { history.notifications = try await notifications(client, request) }
        try await ask {
            let (signedObjects, revision) = try await transactions(client, history)
            history.signedObjects += signedObjects
            history.revision = revision
        }
        // Last: a status is about the newest version of its transaction that is known.
        try await ask {
            let objects = try await subscriptionObjects(client, request)
            let carriers = Set(objects.filter { $0.status != nil }.compactMap(\.transactionId))
            history.signedObjects.removeAll { $0.transactionId.map(carriers.contains) ?? false }
            history.signedObjects += objects
        }
        return history.rejections.count == questions ? .discard(.notFound) : .forward(.answered(history))
    }

    private func notifications(
        _ client: AppStoreServerAPI, _ request: RecoveryRequest
    ) async throws -> [ComparedItem] {
        let now = now()
        let pages = client.notificationHistory(
            NotificationHistoryRequest(
                startDate: request.environment.earliestHistory(at: now), endDate: now,
                transactionId: request.originalTransactionId))
        var listed: [ComparedItem] = []
        for try await page in pages { listed += page.items.compactMap { HistoryPage.Item($0) }.map(ComparedItem.init) }
        return listed.compared(with: try await items.recorded(listed.named))
    }

    private func subscriptionObjects(
        _ client: AppStoreServerAPI, _ request: RecoveryRequest
    ) async throws -> [SignedObject] {
        let askedAt = now()
        let statuses = try await client.subscriptionStatuses(of: request.originalTransactionId)
        return try await knownState.unknownObjects(
            in: statuses.groups.flatMap(\.items), request.environment, askedAt: askedAt)
    }

    private func transactions(
        _ client: AppStoreServerAPI, _ history: CustomerHistory
    ) async throws -> ([SignedObject], String?) {
        let stored = try await answers.revision(of: history.key)
        do {
            return try await transactions(client, history.request, from: stored)
        } catch let error as APIError where error.code == .invalidRequestRevision && stored != nil {
            return try await transactions(client, history.request, from: nil)
        }
    }

    private func transactions(
        _ client: AppStoreServerAPI, _ request: RecoveryRequest, from stored: String?
    ) async throws -> ([SignedObject], String?) {
        var query = TransactionHistoryQuery()
        // Revisions continue in ascending order only.
        query.sort = .ascending
        var items: [SignedItem<JWSTransactionDecodedPayload>] = []
        var revision = stored
        for try await page in client.transactionHistory(of: request.originalTransactionId, query, from: stored) {
            items += page.transactions
            revision = page.position ?? revision
        }
        return (try await knownState.unknownObjects(in: items, request.environment), revision)
    }
}

/// Why a request has no result.
enum CustomerHistoryReason: String, StageReason {
    case undecodable
    /// Apple keeps no history of the environment.
    case withoutHistory
    /// Apple does not know the purchase.
    case notFound
    /// Apple rejected the request for another reason.
    case rejected
    /// The response does not match Apple's documentation.
    case unreadable
    /// The request is invalid.
    case unaskable

    var countsTowardsRejectionLimit: Bool { true }
}

extension HistoryPage.Item {
    /// Converts Apple's item; nil without a payload.
    init?(_ item: NotificationHistoryItem) {
        guard let signedPayload = item.signedPayload else { return nil }
        self.init(
            signedPayload: signedPayload,
            sendAttempts: item.sendAttempts.compactMap { attempt in
                guard let date = attempt.attemptDate, let result = attempt.sendAttemptResult else { return nil }
                return HistoryPage.SendAttempt(attemptedAt: date, result: result.rawValue)
            })
    }
}
