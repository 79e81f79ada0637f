import AppStore
import Chassis
import Contracts
import Operations
import Postgres
import ServerAPI
import Signatures
import Storage
import StrictJSON
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// One purchase: what Apple said last, the access it gives, what is odd or missing, and what happened to it.
struct SubscriptionHandlers: Sendable {
    private let database: Database
    private let cursor: Cursor
    private let clock: ProcessClock

    init(_ dependencies: Dependencies) {
        database = dependencies.database
        cursor = dependencies.cursor
        clock = dependencies.clock
    }

    /// `GET /v1/subscriptions/{originalTransactionId}`
    func get(_ request: APIRequest) async throws -> APIResponse {
        let now = clock.now()
        return try await database.subscription(of: request) { subscription, connection in
            let key = subscription.key
            let view = try await PurchaseView(subscription, at: now, on: connection)
            return APIResponse { json in
                json.member("originalTransactionId", key.originalTransactionId)
                json.member("environment", key.environment.rawValue)
                json.member("bundleId", subscription.bundleId)
                json.member("state", view.state.rawValue)
                json.member("status", subscription.status)
                json.member("givesAccess", view.current != nil)
                Self.write(view.periods, to: &json)
                json.object("transaction", subscription.transaction) { json, facts in
                    json.transaction(
                        facts, originalTransactionId: key.originalTransactionId, bundleId: subscription.bundleId)
                }
                json.object("renewalInfo", subscription.renewal) { json, facts in json.renewal(facts) }
                json.strings("messages", of: view.messages.map(\.rawValue))
                json.strings("anomalies", of: view.anomalies.map(\.rawValue))
                json.strings("gaps", of: view.gaps.map(\.kind.rawValue))
                json.object("refresh", view.refresh) { json, refresh in refresh.write(to: &json) }
                json.member("signedDate", subscription.version.signedDate.milliseconds)
                json.member("asOf", now.milliseconds)
            }
        }
    }

    /// `GET /v1/subscriptions/{originalTransactionId}/timeline`
    func timeline(_ request: APIRequest) async throws -> APIResponse {
        let list = "timeline \(request.parameter("originalTransactionId"))"
        let page = try ListPage(request, cursor, list)
        return try await database.subscription(of: request) { subscription, connection in
            let rows = try await PurchasePages(connection).timeline(
                of: subscription.key, after: try page.number(), limit: page.limit + 1)
            return try page.response(rows, position: { "\($0.id)" }) { row, json in
                let message = row.message
                json.member("id", message.id)
                json.member("data", raw: message.record().value)
            }
        }
    }

    /// `GET /v1/subscriptions/{originalTransactionId}/notifications`
    func notifications(_ request: APIRequest) async throws -> APIResponse {
        let list = "notifications \(request.parameter("originalTransactionId"))"
        let page = try ListPage(request, cursor, list)
        return try await database.subscription(of: request) { subscription, connection in
            let lines = try await PurchasePages(connection).notifications(
                of: subscription.key, after: page.position.flatMap { UUID(uuidString: $0) }, limit: page.limit + 1)
            return try page.response(lines, position: { $0.notificationUUID.uuidString }) { line, json in
                json.member("notificationUUID", line.notificationUUID.uuidString.lowercased())
                json.member("notificationType", line.notificationType)
                json.given("subtype", line.subtype)
                json.given("transactionId", line.transactionId)
                json.given("status", line.status)
                json.given("signedDate", line.signedDate)
                json.member("receivedAt", line.receivedAt.milliseconds)
                json.member("recordedAt", line.recordedAt.milliseconds)
                json.member("source", line.source)
                json.member("isStale", !line.hasAdvanced)
            }
        }
    }

    /// `GET /v1/transactions/{transactionId}`
    func transaction(_ request: APIRequest) async throws -> APIResponse {
        let id = request.parameter("transactionId")
        let found = try await database.withConnection { connection in
            try await PurchasePages(connection).transaction(id, in: request.key.environment)
        }
        guard let found, request.key.covers(found.bundleId) else {
            throw Problem(
                .notFound,
                "No transaction \(id) is known in \(request.key.environment.rawValue); check the id, and the key.")
        }
        let uuid = found.version.version.notificationUUID
        let included = request.query["include"]
        let (decoded, signed, type) = try await database.withConnection { connection in
            let notifications = NotificationStore(connection)
            let decoded = try await notifications.decoded(uuid)
            guard included != nil else { return (decoded, nil as [UInt8]?, nil as String?) }
            return (
                decoded, try await notifications.original(uuid), try await notifications.line(uuid)?.notificationType
            )
        }
        let part = type.flatMap { SignedPart(rawValue: $0) }
        return APIResponse { json in
            json.transaction(
                found.version.facts, originalTransactionId: found.originalTransactionId, bundleId: found.bundleId)
            json.member("notificationUUID", found.version.version.notificationUUID.uuidString.lowercased())
            if let commerce = Self.advancedCommerceInfo(in: decoded) {
                json.member("advancedCommerceInfo", raw: commerce)
            }
            guard let signed else { return }
            if included == "signedPayload" {
                json.member("signedPayload", String(decoding: signed, as: UTF8.self))
                json.member("signedPayloadKind", part?.rawValue ?? "notification")
            } else if let transaction = Self.signedTransaction(in: signed, part) {
                json.member("signedTransactionInfo", transaction)
            }
        }
    }

    /// Apple's `advancedCommerceInfo` of the transaction, as it came.
    private static func advancedCommerceInfo(in decoded: String?) -> [UInt8]? {
        guard let decoded, let root = try? JSONDocument(Array(decoded.utf8)).root else { return nil }
        let transaction = root["data"]?["signedTransactionInfo"] ?? root
        return transaction["advancedCommerceInfo"].flatMap { $0.kind == .object ? Array($0.rawBytes) : nil }
    }

    /// The transaction's own signed text: within the notification that held it, or what was received itself.
    private static func signedTransaction(in signed: [UInt8], _ part: SignedPart?) -> String? {
        switch part {
        case .transaction: return String(decoding: signed, as: UTF8.self)
        case .renewalInfo, .appTransaction: return nil
        case nil:
            let payload = CompactJWS(signed[...]).flatMap { Base64.decode($0.payload, .url) }
            let root = payload.flatMap { try? JSONDocument($0) }?.root
            return root?["data"]?["signedTransactionInfo"]?.string
        }
    }

    private static func write(_ periods: [AccessStore.Period], to json: inout JSONWriter) {
        json.objects("access", of: periods) { json, period in
            json.member("productId", period.productId)
            json.member("startsAt", period.startsAt.milliseconds)
            json.member("endsAt", period.endsAt?.milliseconds)
            json.member("until", period.until?.milliseconds)
            json.member("reason", period.reason)
            json.given("transactionId", period.transactionId)
            json.given("notificationUUID", period.notificationUUID?.uuidString.lowercased())
        }
    }
}

extension JSONWriter {
    /// An object member, or `null` where there is nothing to write.
    mutating func object<Value>(
        _ name: String, _ value: Value?, _ write: (inout JSONWriter, Value) -> Void
    ) {
        guard let value else { return member(name, nil as String?) }
        beginObject(name)
        write(&self, value)
        endObject()
    }
}

extension Database {
    /// The purchase of the path, if the key may see it; what it may not see is not found.
    func subscription<Value: Sendable>(
        of request: APIRequest, _ body: @Sendable (Subscription, PostgresConnection) async throws -> Value
    ) async throws -> Value {
        let key = SubscriptionKey(
            environment: request.key.environment, originalTransactionId: request.parameter("originalTransactionId"))
        return try await withConnection { connection in
            guard let subscription = try await SubscriptionStore(connection).find(key),
                request.key.covers(subscription.bundleId)
            else {
                throw Problem(
                    .notFound,
                    "No purchase \(key.originalTransactionId) is known in \(key.environment.rawValue); check that this is "
                        + "the id of its first transaction, and the environment of the key.")
            }
            return try await body(subscription, connection)
        }
    }
}
