import Chassis
import Contracts
import ServerAPI
import Storage

/// `GET /v1/search?q=`: any id in one box.
struct SearchHandler: Sendable {
    static let limit = 100

    private let database: Database
    private let services: UploadServices
    private let clock: ProcessClock

    init(_ dependencies: Dependencies) {
        database = dependencies.database
        services = dependencies.uploads
        clock = dependencies.clock
    }

    func search(_ request: APIRequest) async throws -> APIResponse {
        let bundleIds = try request.bundleIds()
        let id = (request.query["q"] ?? "").trimmingSpaces
        var hits = try await stored(id, request.key.environment, bundleIds)
        if hits.isEmpty, Self.isOrder(id) { hits = try await ordered(id, request.key, bundleIds) }
        let found = hits
        return APIResponse { json in
            json.objects("data", of: found) { json, hit in
                json.member("kind", hit.kind)
                json.member("bundleId", hit.bundleId)
                json.member("originalTransactionId", hit.originalTransactionId)
                json.member("appAccountToken", hit.appAccountToken?.uuidString.lowercased())
            }
        }
    }

    private func stored(
        _ id: String, _ environment: StoreEnvironment, _ bundleIds: [String]?
    ) async throws -> [SearchStore.Hit] {
        try await database.withConnection { connection in
            try await SearchStore(connection).hits(id, in: environment, bundleIds: bundleIds, limit: Self.limit)
        }
    }

    /// What is stored of the purchases of an order. Apple knows the order, and is asked for each app that has an API key; it has
    /// orders in production alone. Where it does not answer for one app, the purchases of the others are found.
    /// - Throws: `Problem` where the key may not ask, or nothing was found and Apple did not answer for some app.
    private func ordered(
        _ orderId: String, _ key: ClientKey, _ bundleIds: [String]?
    ) async throws -> [SearchStore.Hit] {
        guard key.environment == .production else { return [] }
        let apps = (services.apple?.all ?? []).filter {
            $0.environment == .production && bundleIds?.contains($0.app.bundleId) ?? true
        }.map(\.app.bundleId)
        guard !apps.isEmpty else { return [] }
        try services.questions.take(key, apps.count, for: .orderLookup, at: clock.instant())
        let end = clock.instant() + AppleQuestion.patience
        var (hits, failure): ([SearchStore.Hit], Problem?) = ([], nil)
        for bundleId in apps {
            let order: OrderLookup
            do {
                let client = try AppleQuestion.client(
                    services, bundleId, key.environment, deadline: clock.instant().duration(to: end))
                order = try await client.lookUpOrder(orderId)
            } catch let error as APIError {
                failure = failure ?? Problem(error)
                continue
            } catch let error as AppleQuestion.Failure {
                failure = failure ?? Problem(.unavailable, "\(error.detail).", headers: [.retryAfter: "5"])
                continue
            }
            let purchases = Set(order.transactions.compactMap(\.value).compactMap(\.purchaseId))
            for purchase in purchases.sorted() {
                for var hit in try await stored(purchase, key.environment, [bundleId])
                where hit.kind == "originalTransactionId" {
                    hit.kind = "orderId"
                    hits.append(hit)
                }
            }
        }
        if hits.isEmpty, let failure { throw failure }
        return Array(hits.prefix(Self.limit))
    }

    /// Capital letters and digits, the first a letter, as receipts have them.
    private static func isOrder(_ text: String) -> Bool {
        (8...12).contains(text.utf8.count) && text.utf8.first.map { (65...90).contains($0) } ?? false
            && text.utf8.allSatisfy { (65...90).contains($0) || (48...57).contains($0) }
    }
}

extension String {
    /// Ids are pasted with what stood beside them.
    fileprivate var trimmingSpaces: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}
