import AppStore
import Chassis
import Contracts
import Interpretation
import ServerAPI
import Storage
import StrictJSON
import Subscriptions

import struct Foundation.Date

/// From the order number on a customer's receipt to what was bought, and to the timeline of the purchases.
struct OrderHandler: Sendable {
    /// Of each purchase; the pages of the timeline have the others.
    static let timelineLength = 100

    private let services: UploadServices
    private let database: Database
    private let clock: ProcessClock

    init(_ dependencies: Dependencies) {
        services = dependencies.uploads
        database = dependencies.database
        clock = dependencies.clock
    }

    /// `GET /v1/orders/{orderId}`
    func lookUp(_ request: APIRequest) async throws -> APIResponse {
        let bundleId = try request.app()
        let orderId = request.parameter("orderId")
        let environment = request.key.environment
        guard environment == .production else {
            throw Problem(.notFound, "Apple has orders in Production only; use a key of Production.")
        }
        guard
            orderId.utf8.allSatisfy({ $0 < 0x80 && (Character(UnicodeScalar($0)).isLetter || $0 >= 0x30 && $0 <= 0x39) }
            )
        else { throw Self.unknown(orderId) }
        let client = try services.client(of: bundleId, in: environment)
        try services.questions.take(request.key, for: .orderLookup, at: clock.instant())
        let order: OrderLookup
        do {
            order = try await client.lookUpOrder(orderId)
        } catch let error as APIError {
            throw Problem(error)
        }
        guard order.status == .valid else { throw Self.unknown(orderId) }
        let purchases = try await purchases(order.transactions, of: bundleId, in: environment)
        let rejected = order.transactions.compactMap { item -> VerificationFailure? in
            if case .failure(let rejection) = item.proof { rejection } else { nil }
        }
        return APIResponse { json in
            json.member("orderId", orderId)
            json.member("bundleId", bundleId)
            json.beginArray("purchases")
            for purchase in purchases { purchase.write(to: &json, of: bundleId) }
            json.endArray()
            json.objects("rejected", of: rejected) { json, rejection in
                json.member("reason", rejection.reason.rawValue)
                json.member("detail", rejection.message)
            }
            json.member("asOf", clock.now().milliseconds)
        }
    }

    /// One purchase of the order, in Apple's words and ours.
    private struct Purchase: Sendable {
        var id: String
        var transactions: [TransactionFacts]
        var isStored: Bool
        var timeline: [TimelineRow]

        func write(to json: inout JSONWriter, of bundleId: String) {
            json.beginObject()
            json.member("originalTransactionId", id)
            json.member("isStored", isStored)
            json.objects("transactions", of: transactions) { json, facts in
                json.transaction(facts, originalTransactionId: id, bundleId: bundleId)
            }
            json.objects("timeline", of: timeline) { json, row in
                json.member("id", row.message.id)
                json.member("data", raw: row.message.record().value)
            }
            json.endObject()
        }
    }

    private func purchases(
        _ items: [SignedItem<JWSTransactionDecodedPayload>], of bundleId: String, in environment: StoreEnvironment
    ) async throws -> [Purchase] {
        let now = clock.now()
        let facts = items.compactMap(\.value).compactMap { transaction in
            transaction.purchaseId.flatMap { id in
                TransactionFacts(transaction, signedDate: transaction.signedDate ?? now).map { (id, $0) }
            }
        }
        let grouped = Dictionary(grouping: facts, by: \.0).sorted { $0.key < $1.key }
        return try await database.withConnection { connection async throws -> [Purchase] in
            var purchases: [Purchase] = []
            for (id, facts) in grouped {
                let key = SubscriptionKey(environment: environment, originalTransactionId: id)
                let stored = try await SubscriptionStore(connection).find(key)
                // What is stored of another app is not this key's to see.
                let isStored = stored?.bundleId == bundleId
                let timeline =
                    try await isStored
                    ? PurchasePages(connection).timeline(of: key, after: 0, limit: Self.timelineLength) : []
                purchases.append(
                    Purchase(id: id, transactions: facts.map(\.1), isStored: isStored, timeline: timeline))
            }
            return purchases
        }
    }

    private static func unknown(_ orderId: String) -> Problem {
        Problem(.notFound, "Apple knows no order \(orderId) of this app; check the number, and the app.")
    }
}
