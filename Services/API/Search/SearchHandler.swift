import Storage

/// `GET /v1/search?q=`: any id in one box.
struct SearchHandler: Sendable {
    static let limit = 100

    private let database: Database

    init(_ dependencies: Dependencies) { database = dependencies.database }

    func search(_ request: APIRequest) async throws -> APIResponse {
        let bundleIds = try request.bundleIds()
        let id = (request.query["q"] ?? "").trimmingSpaces
        let hits = try await database.withConnection { connection in
            try await SearchStore(connection).hits(
                id, in: request.key.environment, bundleIds: bundleIds, limit: Self.limit)
        }
        return APIResponse { json in
            json.beginArray("data")
            for hit in hits {
                json.beginObject()
                json.member("kind", hit.kind)
                json.member("bundleId", hit.bundleId)
                json.member("originalTransactionId", hit.originalTransactionId)
                json.member("appAccountToken", hit.appAccountToken?.uuidString.lowercased())
                json.endObject()
            }
            json.endArray()
        }
    }
}

extension String {
    /// Ids are pasted with what stood beside them.
    fileprivate var trimmingSpaces: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}
