import Chassis
import Postgres
import Storage
import StrictJSON

import struct Foundation.UUID

/// Consumables: a transaction is credited to an account once, and what an account was given.
struct CreditHandlers: Sendable {
    private let database: Database
    private let clock: ProcessClock

    init(_ dependencies: Dependencies) {
        database = dependencies.database
        clock = dependencies.clock
    }

    /// `POST /v1/transactions/{transactionId}/credit`: idempotent by the transaction.
    func credit(_ request: APIRequest) async throws -> APIResponse {
        let (id, environment) = (request.parameter("transactionId"), request.key.environment)
        let account = request.body?.root["appAccountToken"]?.string.flatMap { UUID(uuidString: $0) }
        let now = clock.now()
        let outcome = try await database.withConnection { connection in
            try await CreditStore(connection).credit(
                id, in: environment, to: account, among: request.key.bundleIds.isEmpty ? nil : request.key.bundleIds,
                by: "API key \(request.key.name)", at: now
            ) { credit in
                // A repeat must be told that it was the first one: by that the customer gets what was bought.
                request.commands(storing: Self.response(credit, isNew: true, request))
            }
        }
        guard case .credited(let credit, let isNew) = outcome else {
            var problem = Self.problem(outcome, id, request)
            problem.mayPass = true
            throw problem
        }
        return Self.response(credit, isNew: isNew, request)
    }

    private static func response(_ credit: CreditStore.Credit, isNew: Bool, _ request: APIRequest) -> APIResponse {
        APIResponse(status: isNew ? 201 : 200) { json in
            json.member("transactionId", credit.transactionId)
            json.member("bundleId", credit.bundleId)
            json.member("environment", request.key.environment.rawValue)
            json.member("productId", credit.productId)
            json.member("appAccountToken", credit.account?.uuidString.lowercased())
            json.member("quantity", credit.quantity)
            json.member("unit", credit.unit)
            json.member("amount", credit.amount)
            json.member("takenBack", credit.takenBack)
            json.member("isFirst", isNew)
            json.member("creditedAt", credit.creditedAt.milliseconds)
            json.member("revocationDate", credit.revokedAt?.milliseconds)
        }
    }

    private static func problem(_ outcome: CreditStore.Outcome, _ id: String, _ request: APIRequest) -> Problem {
        switch outcome {
        case .notConsumable(let type):
            Problem(.conflict, "Transaction \(id) bought a product of type “\(type)”; only a consumable is credited.")
        case .revoked:
            Problem(
                .conflict, "Apple refunded or revoked transaction \(id) before it was credited; give nothing for it.")
        case .noAccount:
            Problem(
                .conflict,
                "No account may use the purchase of transaction \(id), or not the one of this request; upload the signed transaction "
                    + "for the account first (POST /v1/transactions).")
        case .severalAccounts:
            Problem(
                .conflict, "Several accounts may use the purchase of transaction \(id); name one as appAccountToken.")
        case .otherAccount:
            Problem(
                .conflict,
                "Transaction \(id) was credited to another account; it is credited once, so give nothing for it.")
        case .unknown, .credited:
            Problem(
                .notFound,
                "No transaction \(id) is known in \(request.key.environment.rawValue); send it again where it was uploaded a moment ago, "
                    + "else check the id, and the key.")
        }
    }

    /// `GET /v1/accounts/{appAccountToken}/balances`
    func balances(_ request: APIRequest) async throws -> APIResponse {
        let account = UUID(uuidString: request.parameter("appAccountToken")) ?? .zero
        let bundleIds = try request.bundleIds()
        let now = clock.now()
        let balances = try await database.withConnection { connection in
            try await CreditStore(connection).balances(
                of: account, in: request.key.environment, bundleIds: bundleIds)
        }
        return APIResponse { json in
            json.member("appAccountToken", account.uuidString.lowercased())
            json.member("environment", request.key.environment.rawValue)
            json.objects("data", of: balances) { json, balance in
                json.member("bundleId", balance.bundleId)
                json.member("unit", balance.unit)
                json.member("balance", balance.balance)
                json.member("credited", balance.credited)
                json.member("takenBack", balance.takenBack)
                json.member("transactions", balance.credits)
                json.member("creditedAt", balance.creditedAt.milliseconds)
            }
            json.member("asOf", now.milliseconds)
        }
    }
}
