import Chassis
import Contracts
import Operations
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
        let (id, performer) = (customers.newId(), try request.performer(at: customers.clock.now()))
        if request.isDryRun {
            return APIResponse(
                operation.plan(
                    of: try await customers.database.withConnection { try await operation.preview(on: $0) }))
        }
        let certificate = try await customers.database.withConnection { connection in
            try await operation.perform(on: connection, id: id, by: performer)
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
}
