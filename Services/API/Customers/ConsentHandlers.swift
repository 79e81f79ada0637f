import Contracts
import Storage
import StrictJSON

import struct Foundation.Date
import struct Foundation.UUID

/// What customers consented to.
struct ConsentHandlers: Sendable {
    private let customers: CustomerHandlers

    init(_ dependencies: Dependencies) {
        customers = CustomerHandlers(dependencies)
    }

    /// `PUT /v1/customers/{customerId}/consents/{kind}`
    func put(_ request: APIRequest) async throws -> APIResponse {
        let body = request.body?.root
        let now = customers.clock.now()
        let givenAt = body?["givenAt"]?.int64.map { Date(milliseconds: $0) } ?? now
        guard givenAt <= now else {
            throw Problem(
                .invalidRequest, "A consent cannot be given in the future; send when the customer gave it.",
                faults: [ValueFault(pointer: "/givenAt", detail: "must not be later than now")])
        }
        return try await record(request, isGiven: true, at: givenAt, note: body?["note"]?.string)
    }

    /// `DELETE /v1/customers/{customerId}/consents/{kind}`: the customer took it back.
    func withdraw(_ request: APIRequest) async throws -> APIResponse {
        try await record(request, isGiven: false, at: customers.clock.now(), note: nil)
    }

    /// `GET /v1/customers/{customerId}/consents`
    func list(_ request: APIRequest) async throws -> APIResponse {
        try await response(try await customers.customer(request))
    }

    private func record(
        _ request: APIRequest, isGiven: Bool, at moment: Date, note: String?
    ) async throws -> APIResponse {
        let customer = try await customers.customer(request)
        guard let kind = ConsentStore.Kind(rawValue: request.parameter("kind")) else {
            throw Problem(.notFound, "There is no such consent; known are: consumption.")
        }
        let consent = ConsentStore.Consent(
            environment: customer.environment, bundleId: customer.bundleId, appAccountToken: customer.appAccountToken,
            kind: kind, isGiven: isGiven, givenAt: moment, recordedAt: customers.clock.now(),
            recordedBy: request.key.id, note: note)
        try await customers.database.withConnection { try await ConsentStore($0).add(consent) }
        return try await response(customer)
    }

    private func response(_ customer: CustomerRecords.Customer) async throws -> APIResponse {
        let (consents, rescindedAt) = try await customers.database.withConnection { connection in
            let store = ConsentStore(connection)
            return (
                try await store.consents(of: customer.appAccountToken, customer.bundleId, in: customer.environment),
                try await store.rescindedAt(of: customer.appAccountToken, customer.bundleId, in: customer.environment)
            )
        }
        let inForce = Self.inForce(consents, rescindedAt: rescindedAt)
        return APIResponse { json in
            json.strings("inForce", of: ConsentStore.Kind.allCases.filter(inForce.contains).map(\.rawValue))
            json.member("rescindedAt", rescindedAt?.milliseconds)
            json.objects("data", of: consents) { json, consent in
                json.member("kind", consent.kind.rawValue)
                json.member("given", consent.isGiven)
                json.member("givenAt", consent.givenAt.milliseconds)
                json.member("recordedAt", consent.recordedAt.milliseconds)
                json.member("recordedBy", consent.recordedBy.uuidString.lowercased())
                json.member("note", consent.note)
            }
        }
    }

    /// Of each kind the newest counts, unless a parent has taken back the consent to the use of the app since.
    private static func inForce(
        _ consents: [ConsentStore.Consent], rescindedAt: Date?
    ) -> Set<ConsentStore.Kind> {
        Set(
            ConsentStore.Kind.allCases.filter { kind in
                guard let newest = consents.first(where: { $0.kind == kind }), newest.isGiven else { return false }
                return rescindedAt.map { newest.givenAt > $0 } ?? true
            })
    }
}
