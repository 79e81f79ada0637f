import Chassis
import Contracts
import Storage
import StrictJSON

import struct Foundation.Date
import struct Foundation.UUID

/// Forgets customers on their request.
struct ErasureHandler: Sendable {
    private let customers: CustomerHandlers

    init(_ dependencies: Dependencies) { customers = CustomerHandlers(dependencies) }

    /// `POST /v1/customers/{customerId}/erasure`
    func erase(_ request: APIRequest) async throws -> APIResponse {
        let bundleId = try request.app()
        let extent = request.body?.root["extent"]?.string.flatMap(ErasureStore.Extent.init) ?? .detach
        let asked = request.parameter("customerId")
        let (environment, id, now) = (request.key.environment, customers.newId(), customers.clock.now())
        let certificate: ErasureStore.Certificate? = try await customers.database.withConnection { connection in
            let certificate = try await ErasureStore(connection).forget(
                named: asked, of: bundleId, in: environment, extent: extent, id: id, at: now)
            guard let certificate else { return nil }
            try await OperatorActionStore(connection).record([
                OperatorAction(
                    actedAt: now, actor: request.actor, action: "customers \(extent.rawValue)",
                    subject: certificate.subject, note: nil,
                    about: OperatorAction.About(environment, bundleId))
            ])
            return certificate
        }
        guard let certificate else {
            throw Problem(
                .notFound,
                "Nothing was changed: \(bundleId) has no customer and no account \(asked) in \(environment.rawValue); send your "
                    + "own id of the customer, or the appAccountToken.")
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
