import Contracts
import Operations
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
        let grant = CustomerRecords.ManualGrant(
            id: request.claim?.id ?? customers.newId(), environment: customer.environment, bundleId: customer.bundleId,
            appAccountToken: customer.appAccountToken, productId: body?["productId"]?.string ?? "",
            reason: body?["reason"]?.string ?? "",
            startsAt: body?["startsAt"]?.int64.map { Date(milliseconds: $0) } ?? now,
            endsAt: body?["endsAt"]?.int64.map { Date(milliseconds: $0) }, createdAt: now, createdBy: request.key.id)
        let operation = try GrantAccess(grant, confirmsUnknown: body?["confirmUnknown"]?.bool ?? false)
        let performer = try request.performer(at: now)
        return try await customers.database.withConnection { connection in
            if request.isDryRun { return APIResponse(try await operation.plan(on: connection)) }
            if let claim = request.claim,
                let made = try await CustomerRecords(connection).grants(
                    of: grant.appAccountToken, of: grant.bundleId, in: grant.environment
                ).first(where: { claim.made($0.id, at: $0.createdAt) })
            {
                return APIResponse(status: 201) { json in Self.write(made, to: &json) }
            }
            do {
                try await operation.perform(on: connection, by: performer)
            } catch let error as OperationError where error.kind == .unconfirmed {
                throw Problem(.conflict, "\(error) Send \"confirmUnknown\": true to grant it all the same.")
            }
            return APIResponse(status: 201) { json in Self.write(grant, to: &json) }
        }
    }

    /// `GET /v1/customers/{customerId}/grants`
    func list(_ request: APIRequest) async throws -> APIResponse {
        let customer = try await customers.customer(request)
        let grants = try await customers.database.withConnection { connection in
            try await CustomerRecords(connection).grants(
                of: customer.appAccountToken, of: customer.bundleId, in: customer.environment)
        }
        return APIResponse { json in
            json.objects("data", of: grants) { json, grant in
                Self.write(grant, to: &json)
            }
        }
    }

    /// `DELETE /v1/customers/{customerId}/grants/{grantId}`
    func revoke(_ request: APIRequest) async throws -> APIResponse {
        let customer = try await customers.customer(request)
        let operation = RevokeGrant(
            UUID(uuidString: request.parameter("grantId")) ?? .zero, of: customer.appAccountToken,
            of: customer.bundleId, in: customer.environment)
        let performer = try request.performer(at: customers.clock.now())
        return try await customers.database.withConnection { connection in
            if request.isDryRun { return APIResponse(try await operation.plan(on: connection, at: performer.now)) }
            try await operation.perform(on: connection, by: performer)
            return .empty(204)
        }
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
