import Chassis
import Contracts
import Operations
import Postgres
import Storage
import StrictJSON

/// Forgets customers on their request.
struct ErasureHandler: Sendable {
    private let customers: CustomerHandlers

    init(_ dependencies: Dependencies) { customers = CustomerHandlers(dependencies) }

    /// `POST /v1/customers/{customerId}/erasure`
    func erase(_ request: APIRequest) async throws -> APIResponse {
        let bundleId = try request.app()
        let extent = request.body?.root["extent"]?.string.flatMap(ErasureStore.Extent.init) ?? .detach
        let operation = EraseCustomer(
            .named(request.parameter("customerId")), of: bundleId, in: request.key.environment, extent: extent)
        let id = request.claim?.id ?? customers.newId()
        let performer = try request.performer(at: customers.clock.now())
        if request.isDryRun {
            return APIResponse(
                operation.plan(
                    of: try await customers.database.withConnection { try await operation.preview(on: $0) }))
        }
        let certificate = try await customers.database.withConnection { connection in
            // Where the answer was lost: the customer may have been forgotten by now, or have been created again.
            if let made = try await Self.made(by: request, on: connection) {
                try await ErasureStore(connection).sweep(made.id)
                return made
            }
            return try await operation.perform(on: connection, id: id, by: performer)
        }
        return APIResponse { json in
            json.member("certificateId", certificate.id.uuidString.lowercased())
            json.member("extent", certificate.extent.rawValue)
            json.member("bundleId", certificate.bundleId)
            json.member("environment", certificate.environment.rawValue)
            json.member("erasedAt", certificate.erasedAt.milliseconds)
            json.member("topicsUntil", certificate.topicsUntil.milliseconds)
            json.member("purchases", certificate.purchases)
            json.member("payloads", certificate.payloads)
        }
    }

    /// The certificate that the same request was given before.
    private static func made(
        by request: APIRequest, on connection: PostgresConnection
    ) async throws -> ErasureStore.Certificate? {
        guard let claim = request.claim else { return nil }
        for id in claim.ids {
            if let made = try await ErasureStore(connection).certificate(id), claim.made(id, at: made.erasedAt) {
                return made
            }
        }
        return nil
    }
}
