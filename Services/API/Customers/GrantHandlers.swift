import Contracts
import Storage
import StrictJSON

import struct Foundation.Date
import struct Foundation.UUID

/// Access that an operator or a backend gives a customer by hand: with a reason, and an end.
struct GrantHandlers: Sendable {
    private let customers: CustomerHandlers

    init(_ dependencies: Dependencies) { customers = CustomerHandlers(dependencies) }

    /// `POST /v1/customers/{customerId}/grants`
    func create(_ request: APIRequest) async throws -> APIResponse {
        let customer = try await customers.customer(request)
        let body = request.body?.root
        let now = customers.clock.now()
        let start = body?["startsAt"]?.int64.map { Date(milliseconds: $0) } ?? now
        let end = body?["endsAt"]?.int64.map { Date(milliseconds: $0) }
        if let end, end <= start {
            throw Problem(
                .invalidRequest, "The grant would end before it begins; give an endsAt behind startsAt.",
                faults: [ValueFault(pointer: "/endsAt", detail: "must be later than startsAt")])
        }
        let grant = CustomerRecords.ManualGrant(
            id: customers.newId(), environment: customer.environment, bundleId: customer.bundleId,
            appAccountToken: customer.appAccountToken, productId: body?["productId"]?.string ?? "",
            reason: body?["reason"]?.string ?? "", startsAt: start, endsAt: end, createdAt: now,
            createdBy: request.key.id)
        try await customers.database.withConnection { connection in
            try await CustomerRecords(connection).add(grant)
        }
        return APIResponse(status: 201) { json in Self.write(grant, to: &json) }
    }

    /// `GET /v1/customers/{customerId}/grants`
    func list(_ request: APIRequest) async throws -> APIResponse {
        let customer = try await customers.customer(request)
        let grants = try await customers.database.withConnection { connection in
            try await CustomerRecords(connection).grants(
                of: customer.appAccountToken, of: customer.bundleId, in: customer.environment)
        }
        return APIResponse { json in
            json.beginArray("data")
            for grant in grants {
                json.beginObject()
                Self.write(grant, to: &json)
                json.endObject()
            }
            json.endArray()
        }
    }

    /// `DELETE /v1/customers/{customerId}/grants/{grantId}`
    func revoke(_ request: APIRequest) async throws -> APIResponse {
        let customer = try await customers.customer(request)
        let id = UUID(uuidString: request.parameter("grantId")) ?? .zero
        let now = customers.clock.now()
        let isKnown = try await customers.database.withConnection { connection in
            try await CustomerRecords(connection).revoke(
                grant: id, of: customer.appAccountToken, of: customer.bundleId, in: customer.environment, at: now)
        }
        guard isKnown else {
            throw Problem(.notFound, "The customer has no such grant; GET the grants to see which there are.")
        }
        return .empty(204)
    }

    private static func write(_ grant: CustomerRecords.ManualGrant, to json: inout JSONWriter) {
        json.member("grantId", grant.id.uuidString.lowercased())
        json.member("productId", grant.productId)
        json.member("reason", grant.reason)
        json.member("startsAt", grant.startsAt.milliseconds)
        json.member("endsAt", grant.endsAt?.milliseconds)
        json.member("createdAt", grant.createdAt.milliseconds)
        json.member("createdBy", grant.createdBy.uuidString.lowercased())
        json.member("revokedAt", grant.revokedAt?.milliseconds)
    }
}
