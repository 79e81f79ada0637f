import AppStore
import Chassis
import Contracts
import Operations
import Storage
import StrictJSON
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// What a backend wants of Apple for one subscription: its newest state, or more days.
struct SubscriptionRequests: Sendable {
    private let services: UploadServices
    private let database: Database
    private let clock: ProcessClock
    private let newId: @Sendable () -> UUID

    init(_ dependencies: Dependencies) {
        services = dependencies.uploads
        database = dependencies.database
        clock = dependencies.clock
        newId = dependencies.newId
    }

    /// `POST /v1/subscriptions/{originalTransactionId}/refresh`
    func refresh(_ request: APIRequest) async throws -> APIResponse {
        let (id, now) = (newId(), clock.now())
        let refresh = try await database.subscription(of: request) { subscription, connection in
            try await RefreshStore(connection).request(subscription.key, of: subscription.bundleId, id: id, at: now)
        }
        return APIResponse(status: 202) { json in refresh.write(to: &json) }
    }

    /// `POST /v1/subscriptions/{originalTransactionId}/extension`
    func extend(_ request: APIRequest) async throws -> APIResponse {
        let body = request.body?.root
        let (days, note) = (body?["days"]?.int64 ?? 0, body?["note"]?.string)
        let reason = body?["reason"]?.string.flatMap(RenewalExtension.Reason.init) ?? .undeclared
        let name = newId().uuidString.lowercased()
        let subscription = try await database.subscription(of: request) { subscription, _ in subscription }
        let id = subscription.key.originalTransactionId
        let client = try services.client(of: subscription.bundleId, in: subscription.key.environment)
        let wanted = RenewalExtension(of: id, by: days, for: reason, name: name)
        let answer: ExtendRenewalDateResponse?
        do {
            answer = try await wanted.request(from: client) { action in
                let action = OperatorAction(
                    actedAt: clock.now(), actor: request.actor, action: action, subject: wanted.subject, note: note,
                    about: OperatorAction.About(subscription.key.environment, subscription.bundleId))
                try await database.withConnection { try await OperatorActionStore($0).record([action]) }
            }
        } catch let error as APIError {
            throw Problem(error)
        }
        guard let answer else { throw Problem(.conflict, "Apple did not extend purchase \(id) and gave no reason.") }
        return APIResponse { json in
            json.member("originalTransactionId", id)
            json.member("requestIdentifier", name)
            json.member("effectiveDate", answer.effectiveDate?.milliseconds)
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
