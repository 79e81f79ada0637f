import Chassis
import Contracts
import Operations
import Postgres
import ServerAPI
import Storage
import StrictJSON
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// What a backend wants of Apple for one subscription: its newest state, or more days.
struct SubscriptionRequests: Sendable {
    /// About as many as a refresh causes: pages of the customer's history, and the statuses.
    private static let questions = 3

    private let services: UploadServices
    private let database: Database
    private let clock: ProcessClock
    private let newId: @Sendable () -> UUID
    private let logger: Logger

    init(_ dependencies: Dependencies) {
        services = dependencies.uploads
        database = dependencies.database
        clock = dependencies.clock
        newId = dependencies.newId
        logger = dependencies.logger
    }

    /// `POST /v1/subscriptions/{originalTransactionId}/refresh`
    func refresh(_ request: APIRequest) async throws -> APIResponse {
        let (id, performer) = (newId(), try request.performer(at: clock.now()))
        return try await database.subscription(of: request) { subscription, connection in
            let operation = RefreshPurchase(subscription)
            if request.isDryRun { return APIResponse(operation.plan) }
            try services.questions.take(request.key, Self.questions, at: clock.instant())
            let refresh = try await operation.perform(on: connection, id: id, by: performer) { refresh in
                request.commands(storing: Self.response(refresh))
            }
            return Self.response(refresh)
        }
    }

    private static func response(_ refresh: RefreshStore.Refresh) -> APIResponse {
        APIResponse(status: 202) { json in refresh.write(to: &json) }
    }

    /// `POST /v1/subscriptions/{originalTransactionId}/extension`
    func extend(_ request: APIRequest) async throws -> APIResponse {
        let body = request.body?.root
        let name = (request.claim?.id ?? newId()).uuidString.lowercased()
        let subscription = try await database.subscription(of: request) { subscription, _ in subscription }
        let (id, environment) = (subscription.key.originalTransactionId, subscription.key.environment)
        let operation = try ExtendRenewal(
            id, of: subscription.bundleId, in: environment, by: body?["days"]?.int64 ?? 0,
            for: body?["reason"]?.string.flatMap(ExtendRenewal.Reason.init) ?? .undeclared, requestIdentifier: name)
        if request.isDryRun { return APIResponse(operation.plan) }
        let client = try services.client(of: subscription.bundleId, in: environment)
        let performer = try request.performer(reason: body?["note"]?.string, at: clock.now())
        try services.questions.take(request.key, for: .extendRenewalDate, at: clock.instant())
        do {
            let answer = try await operation.perform(at: client, by: performer) { action in
                try await database.withConnection { try await Self.record(action, of: request, on: $0) }
            } unrecorded: { error in
                logger.error(
                    "Apple answered an extension, but the audit log could not be written",
                    metadata: ["request": "\(name)", "error": "\(error)"])
            }
            return APIResponse { json in
                json.member("originalTransactionId", id)
                json.member("requestIdentifier", name)
                json.member("effectiveDate", answer.effectiveDate?.milliseconds)
            }
        } catch APIError.unreadable(let text) {
            throw Problem(.outcomeUnknown, "\(text).")
        } catch let error as APIError {
            throw Problem(error)
        }
    }

    /// Writes a row of the audit log, and notes with it whether the Idempotency-Key of the request may be used again: from the moment
    /// at which Apple is asked until it is certain that Apple has done nothing, it may not.
    /// - Throws: `Problem` where another execution of the same request has asked Apple.
    private static func record(
        _ action: OperatorAction, of request: APIRequest, on connection: PostgresConnection
    ) async throws {
        let audit = OperatorActionStore.command(recording: [action])
        guard let claim = request.claim, action.outcome != .done else {
            _ = try await connection.pipeline([audit])
            return
        }
        let key = request.key.id
        guard action.outcome == .requested else {
            _ = try await connection.pipeline([
                audit, IdempotencyStore.command(undoing: claim.name, of: key, claimedAt: claim.claimedAt),
            ])
            return
        }
        try await connection.transaction { transaction in
            let begun = try transaction.pipeline([
                IdempotencyStore.command(
                    beginning: claim.name, of: key, claimedAt: claim.claimedAt,
                    answer: Idempotency.interrupted.response.bytes)
            ])
            guard begun[0].affected > 0 else {
                throw Problem(
                    .requestInProgress, "Wait for its answer, then send it again with the same Idempotency-Key.",
                    headers: [.retryAfter: "1"])
            }
            try transaction.commit(after: [audit])
        }
    }
}

extension RefreshStore.Refresh {
    func write(to json: inout JSONWriter) {
        json.member("refreshId", id.uuidString.lowercased())
        json.member("requestedAt", requestedAt.milliseconds)
        json.member("answeredAt", answeredAt?.milliseconds)
        json.member("outcome", outcome)
        json.member("message", message)
    }
}
