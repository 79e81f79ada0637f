import AppStore
import Contracts
import Pipeline
import Storage

import struct Foundation.Date

/// What does Apple know of this customer that we lack?
///
/// What Apple cannot answer now is postponed and asked again later: nobody waits behind an app whose key is refused.
///
/// Three questions: the notification history, which reaches back 180 days (30 in sandbox); where the subscriptions stand; and
/// the transaction history from where the last answer ended, which reaches back for ever and in which whatever changed
/// comes again, refunds too.
struct Ask: Stage {
    /// Nil where there are no keys at all.
    let clients: APIClients?
    let items: RecoveryItemStore
    let answers: RecoveryAnswerStore
    let knowledge: Knowledge
    let now: @Sendable () -> Date
    let pauses = Pauses()

    /// All at the same time: the limits are Apple's, and the clients keep to them.
    func process(_ deliveries: [Delivery<RecoveryRequest>]) async throws -> [StageResult<Asked, AskReason>] {
        try await withThrowingTaskGroup(of: (Int, StageResult<Asked, AskReason>).self) { group in
            for (index, delivery) in deliveries.enumerated() {
                group.addTask { (index, try await result(on: delivery.message)) }
            }
            var results: [Int: StageResult<Asked, AskReason>] = [:]
            for try await (index, result) in group { results[index] = result }
            return deliveries.indices.compactMap { results[$0] }
        }
    }

    private func result(on request: RecoveryRequest) async throws -> StageResult<Asked, AskReason> {
        let environment = AppStoreEnvironment(rawValue: request.environment.rawValue)
        guard AppStoreServerAPI.address(of: environment) != nil else { return .discard(.withoutHistory) }
        guard var client = clients?[request.bundleId, environment] else {
            return .forward(.postponed(request, .withoutKey))
        }
        let app = CoverageStore.App(request.environment, request.bundleId)
        if let pause = pauses.pause(of: app, now: now()) { return .forward(.postponed(request, pause)) }
        // Longer than Apple takes, and short enough that those behind it in the log do not wait.
        client.deadline = .seconds(10)
        do {
            return try await findings(client, request)
        } catch let error as APIError {
            let setback = AskSetback(error, now: now())
            if case .pause(let pause, true) = setback { pauses.begin(pause, of: app, now: now()) }
            return setback.result(on: request)
        }
    }

    private func findings(
        _ client: AppStoreServerAPI, _ request: RecoveryRequest
    ) async throws -> StageResult<Asked, AskReason> {
        var findings = Findings(request: request)
        var questions = 0
        func ask(_ question: () async throws -> Void) async throws {
            questions += 1
            do {
                try await question()
            } catch let error as APIError {
                guard case .refused(let refusal) = error, refusal.saysNotFound else { throw error }
                findings.refusals.append("\(refusal.endpoint.rawValue): \(refusal.message)")
            }
        }
        try await ask { findings.notifications = try await notifications(client, request) }
        try await ask { findings.parts += try await standing(client, request) }
        try await ask {
            let (parts, revision) = try await transactions(client, findings)
            findings.parts += parts
            findings.revision = revision
        }
        return findings.refusals.count == questions ? .discard(.notFound) : .forward(.answered(findings))
    }

    private func notifications(
        _ client: AppStoreServerAPI, _ request: RecoveryRequest
    ) async throws -> [ComparedItem] {
        let now = now()
        // An hour less than Apple keeps: the time that passes until it is asked must not make the question wrong.
        let reach = Double((request.environment == .production ? 180 : 30) * 86_400 - 3600)
        let pages = client.notificationHistory(
            NotificationHistoryRequest(
                startDate: now.addingTimeInterval(-reach), endDate: now, transactionId: request.originalTransactionId))
        var listed: [ComparedItem] = []
        for try await page in pages { listed += page.items.compactMap { HistoryPage.Item($0) }.map(ComparedItem.init) }
        return listed.compared(with: try await items.recorded(listed.named))
    }

    private func standing(_ client: AppStoreServerAPI, _ request: RecoveryRequest) async throws -> [[UInt8]] {
        let statuses = try await client.subscriptionStatuses(of: request.originalTransactionId)
        let items = statuses.groups.flatMap(\.items)
        return try await knowledge.news(in: items.compactMap(\.transaction), request.environment)
            + knowledge.news(in: items.compactMap(\.renewalInfo), request.environment)
    }

    private func transactions(
        _ client: AppStoreServerAPI, _ findings: Findings
    ) async throws -> ([[UInt8]], String?) {
        let stored = try await answers.revision(of: findings.key)
        do {
            return try await transactions(client, findings.request, from: stored)
        } catch let error as APIError where error.code == .invalidRequestRevision && stored != nil {
            return try await transactions(client, findings.request, from: nil)
        }
    }

    private func transactions(
        _ client: AppStoreServerAPI, _ request: RecoveryRequest, from stored: String?
    ) async throws -> ([[UInt8]], String?) {
        var query = TransactionHistoryQuery()
        // The order in which a revision can be gone on from.
        query.sort = .ascending
        var items: [SignedItem<JWSTransactionDecodedPayload>] = []
        var revision = stored
        for try await page in client.transactionHistory(of: request.originalTransactionId, query, from: stored) {
            items += page.transactions
            revision = page.position ?? revision
        }
        return (try await knowledge.news(in: items, request.environment), revision)
    }
}

/// Why a request has no answer.
enum AskReason: String, StageReason {
    case undecodable
    /// The environment is one that Apple keeps no history of.
    case withoutHistory
    /// Apple knows nothing of the purchase.
    case notFound
    /// Apple refuses the question, for another reason.
    case refused
    /// The answer is not as Apple documents it.
    case unreadable
    /// The question cannot be put.
    case unaskable

    var countsTowardsRejectionLimit: Bool { true }
}

extension APIRefusal {
    /// That what was asked about is not there, whoever asks and whenever.
    fileprivate var saysNotFound: Bool {
        switch code {
        case .accountNotFound, .originalTransactionIdNotFound, .transactionIdNotFound, .invalidTransactionId,
            .invalidOriginalTransactionId:
            true
        default: false
        }
    }
}

extension HistoryPage.Item {
    /// From Apple's word to ours; nil where there is no payload.
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
