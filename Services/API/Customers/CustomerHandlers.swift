import Chassis
import Contracts
import Storage
import StrictJSON

import struct Foundation.Date
import struct Foundation.UUID

/// Customers by the developer's own ids, and the appAccountToken that stands for each at Apple.
struct CustomerHandlers: Sendable {
    let database: Database
    let clock: ProcessClock
    let newId: @Sendable () -> UUID

    init(_ dependencies: Dependencies) {
        database = dependencies.database
        clock = dependencies.clock
        newId = dependencies.newId
    }

    /// `PUT /v1/customers/{customerId}`
    func put(_ request: APIRequest) async throws -> APIResponse {
        let bundleId = try request.app()
        let given = request.body?.root["appAccountToken"]?.string.flatMap { UUID(uuidString: $0) }
        let wanted = CustomerRecords.Customer(
            id: request.parameter("customerId"), environment: request.key.environment, bundleId: bundleId,
            appAccountToken: given ?? newId(), createdAt: clock.now())
        let outcome = try await database.withConnection { connection in
            try await CustomerRecords(connection).put(wanted, isTokenGiven: given != nil)
        }
        switch outcome {
        case .created(let customer): return Self.response(customer, status: 201)
        case .known(let customer): return Self.response(customer, status: 200)
        case .conflict:
            throw Problem(
                .conflict,
                "The customer has another appAccountToken, or this token belongs to another customer; GET the customer, and "
                    + "DELETE the one that is wrong.")
        }
    }

    /// `GET /v1/customers/{customerId}`
    func get(_ request: APIRequest) async throws -> APIResponse {
        let customer = try await customer(request)
        let purchases = try await database.withConnection { connection in
            try await AccountAppStore(connection).firstPurchases(
                of: customer.appAccountToken, in: customer.environment, of: customer.bundleId)
        }
        return APIResponse { json in
            Self.write(customer, to: &json)
            json.objects("appPurchases", of: purchases) { json, purchase in
                json.member("originalApplicationVersion", purchase.originalApplicationVersion)
                json.member("originalPurchaseDate", purchase.originalPurchaseDate?.milliseconds)
                json.member("preorderDate", purchase.preorderDate?.milliseconds)
                json.member("isEntitled", purchase.isEntitled)
            }
        }
    }

    /// `GET /v1/customers/{customerId}/accounts`
    func accounts(_ request: APIRequest) async throws -> APIResponse {
        let customer = try await customer(request)
        let accounts = try await database.withConnection { connection in
            try await CustomerRecords(connection).accounts(sharingWith: customer)
        }
        return APIResponse { json in
            json.objects("data", of: accounts) { json, account in
                json.member("appAccountToken", account.appAccountToken.uuidString.lowercased())
                json.member("customerId", account.customerId)
                json.member("since", account.since.milliseconds)
                json.member("claim", account.evidence.rawValue)
                json.member("isEntitled", account.isEntitled)
            }
        }
    }

    /// `DELETE /v1/customers/{customerId}`
    func delete(_ request: APIRequest) async throws -> APIResponse {
        let bundleId = try request.app()
        let isRemoved = try await database.withConnection { connection in
            try await CustomerRecords(connection).remove(
                request.parameter("customerId"), of: bundleId, in: request.key.environment)
        }
        guard isRemoved else { throw Self.unknown(request) }
        return .empty(204)
    }

    /// The customer of the path.
    func customer(_ request: APIRequest) async throws -> CustomerRecords.Customer {
        let bundleId = try request.app()
        let customer = try await database.withConnection { connection in
            try await CustomerRecords(connection).find(
                request.parameter("customerId"), of: bundleId, in: request.key.environment)
        }
        guard let customer else { throw Self.unknown(request) }
        return customer
    }

    static func unknown(_ request: APIRequest) -> Problem {
        Problem(
            .notFound,
            "No customer \(request.parameter("customerId")) of this app is known in \(request.key.environment.rawValue); "
                + "PUT the customer first.")
    }

    private static func response(_ customer: CustomerRecords.Customer, status: Int) -> APIResponse {
        APIResponse(status: status) { write(customer, to: &$0) }
    }

    private static func write(_ customer: CustomerRecords.Customer, to json: inout JSONWriter) {
        json.member("customerId", customer.id)
        json.member("bundleId", customer.bundleId)
        json.member("environment", customer.environment.rawValue)
        json.member("appAccountToken", customer.appAccountToken.uuidString.lowercased())
        json.member("createdAt", customer.createdAt.milliseconds)
    }
}

extension APIRequest {
    /// The one app that the request is about: `bundleId`, or the only one of the key.
    func app() throws(Problem) -> String {
        if let asked = query["bundleId"] { return try allowed(asked) }
        guard key.bundleIds.count == 1 else {
            throw Problem(
                .invalidRequest, "Say which app with ?bundleId=…, because the key is for more than one.",
                faults: [ValueFault(pointer: "bundleId", detail: "is required with this key")])
        }
        return key.bundleIds[0]
    }
}
