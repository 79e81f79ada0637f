import Contracts
import Operations
import Storage

import struct Foundation.Date
import struct Foundation.UUID

/// A customer who asks to be forgotten: a dry run, then a detachment or an erasure, then its certificate.
struct ErasureScreens: Sendable {
    struct Fact: Sendable {
        let name: String
        let value: String
    }

    struct Page: Sendable {
        let heading: String
        let facts: [Fact]
        /// Of the erasure or detachment before.
        let before: String?
        let forms: [ActionForm]
        /// Of the account; nil once it is forgotten.
        let back: String?
        let command: String?
    }

    let console: Console

    /// `GET /accounts/{environment}/{account}/erasure?app=`: what would be forgotten. Changes nothing.
    func plan(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let (environment, account) = (try request.environment(), try request.uuid("account"))
        guard let app = request.text("app") else {
            throw Fault.notFound("The address names no app.")
        }
        let preview = try await console.erasureDatabase.withConnection { connection in
            try await ErasureStore(connection).preview(account, of: app, in: environment)
        }
        let name = account.uuidString.lowercased()
        guard let preview else {
            return console.page(
                "erasure", "Erase account \(name.prefix(8))",
                Page(
                    heading: "Nothing is known of this account in this app.",
                    facts: [
                        Fact(name: "account", value: name), Fact(name: "app", value: app),
                        Fact(name: "environment", value: environment.rawValue),
                    ],
                    before: nil, forms: [], back: "/accounts/\(environment.rawValue)/\(name)", command: nil), request)
        }
        return console.page(
            "erasure", "Erase account \(name.prefix(8))",
            Page(
                heading: preview.isErased
                    ? "This account is erased."
                    : "What would be forgotten",
                facts: [
                    Fact(name: "account", value: name), Fact(name: "app", value: app),
                    Fact(name: "environment", value: environment.rawValue),
                    Fact(name: "your own id", value: preview.customer ?? "none"),
                    Fact(name: "purchases that would have no customer", value: "\(preview.purchases)"),
                    Fact(name: "signed payloads that an erasure would delete", value: "\(preview.payloads)"),
                    Fact(name: "grants that would be deleted", value: "\(preview.grants)"),
                ],
                before: preview.certificate.map(Self.address),
                forms: preview.isErased
                    ? []
                    : [
                        form(.detach, account, app, environment, request),
                        form(.erase, account, app, environment, request),
                    ],
                back: "/accounts/\(environment.rawValue)/\(name)",
                command: Self.command(.erase, account, app, environment) + " --dry-run"),
            request)
    }

    /// `POST /accounts/{environment}/{account}/erasure`
    func forget(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let (environment, account) = (try request.environment(), try request.uuid("account"))
        guard let extent = ErasureStore.Extent(rawValue: request.form["extent"] ?? ""),
            let app = request.form["app"], (1...200).contains(app.utf8.count)
        else {
            throw Fault(422, "Nothing was done: the form is incomplete.", "Begin again with the dry run.")
        }
        let operation = EraseCustomer(.account(account), of: app, in: environment, extent: extent)
        let performer = try console.performer(request)
        let certificate = try await console.erasureDatabase.withConnection { connection in
            try await operation.perform(on: connection, id: console.newId(), by: performer)
        }
        return .redirect(to: Self.address(certificate.id))
    }

    /// `GET /erasures/{uuid}`: the certificate, which names no customer.
    func certificate(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let (id, now) = (try request.uuid("uuid"), console.clock.now())
        let found = try await console.database.withConnection { try await ErasureStore($0).certificate(id) }
        guard let certificate = found else { throw Fault.notFound("There is no such certificate.") }
        let (done, gone) = (Moment(certificate.erasedAt, now: now), Moment(certificate.topicsUntil, now: now))
        return console.page(
            "erasure", "Certificate",
            Page(
                heading: certificate.extent == .erase ? "The customer is erased." : "The customer is detached.",
                facts: [
                    Fact(name: "certificate", value: id.uuidString.lowercased()),
                    Fact(name: "app", value: certificate.bundleId),
                    Fact(name: "environment", value: certificate.environment.rawValue),
                    Fact(name: "done", value: "\(done.text), \(done.distance)"),
                    Fact(name: "purchases without a customer now", value: "\(certificate.purchases)"),
                    Fact(name: "signed payloads deleted", value: "\(certificate.payloads)"),
                    Fact(name: "older records in Kafka are gone by", value: "\(gone.text), \(gone.distance)"),
                ],
                before: nil, forms: [], back: nil, command: nil),
            request)
    }

    private func form(
        _ extent: ErasureStore.Extent, _ account: UUID, _ app: String, _ environment: StoreEnvironment,
        _ request: ConsoleRequest
    ) -> ActionForm {
        let isErasure = extent == .erase
        return ActionForm(
            id: extent.rawValue, title: isErasure ? "Erase" : "Detach",
            explanation: isErasure
                ? "Deletes the account in all purchases, its records, and the signed payloads counted above. The purchases stay as "
                    + "sales without a customer. This cannot be undone."
                : "Deletes the account in all purchases and its records, and keeps what Apple signed. Another account can claim the "
                    + "purchases. This cannot be undone; an erasure may follow.",
            address: "/accounts/\(environment.rawValue)/\(account.uuidString.lowercased())/erasure",
            button: isErasure ? "Erase for good" : "Detach for good",
            hidden: [("extent", extent.rawValue), ("app", app)],
            command: Self.command(extent, account, app, environment) + " --note REASON", isDangerous: true, request)
    }

    private static func address(_ certificate: UUID) -> String { "/erasures/\(certificate.uuidString.lowercased())" }

    private static func command(
        _ extent: ErasureStore.Extent, _ account: UUID, _ app: String, _ environment: StoreEnvironment
    ) -> String {
        "storekeeper customers \(extent.rawValue) \(account.uuidString.lowercased()) --app \(shellWord(app)) "
            + "--environment \(environment.rawValue)"
    }
}
