import Contracts
import Operations
import Storage

import struct Foundation.Date
import struct Foundation.UUID

/// What people do for an account.
struct AccountActions: Sendable {
    let console: Console

    /// `POST /accounts/{environment}/{account}/grants`
    func grant(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let (environment, account) = (try request.environment(), try request.uuid("account"))
        let performer = try console.performer(request)
        let days = request.form["days"].flatMap { $0.isEmpty ? nil : $0 }
        guard days.map({ Int($0) != nil }) ?? true else {
            throw OperationError("the number of days is no number", .invalid("days"))
        }
        let operation = try GrantAccess(
            CustomerRecords.ManualGrant(
                id: console.id(of: request), environment: environment, bundleId: try request.word("app", "the app"),
                appAccountToken: account, productId: try request.word("product", "the product"),
                reason: performer.reason ?? "", startsAt: performer.now,
                endsAt: try GrantAccess.end(after: days.flatMap { Int($0) }, from: performer.now),
                createdAt: performer.now, createdBy: CustomerRecords.ManualGrant.byOperator),
            confirmsUnknown: request.form["unknown"] == "yes")
        return try await console.database.withConnection { connection in
            if request.isDryRun { return console.page(of: try await operation.plan(on: connection), request) }
            do {
                guard try await operation.perform(on: connection, by: performer).isEffective else {
                    throw Fault(
                        409, "Nothing was done: this form was sent before.",
                        "Look at the grants of the account before you grant more.", isRepetition: true)
                }
            } catch let error as OperationError where error.kind == .unconfirmed {
                throw Fault(
                    422, "Nothing was granted. \(error)",
                    "Choose another, or tick the box that grants it all the same.", field: "product")
            }
            return .redirect(to: "\(Self.address(account, environment))?done=grant")
        }
    }

    /// `POST /accounts/{environment}/{account}/grants/{grant}/revoke`
    func revoke(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let (environment, account) = (try request.environment(), try request.uuid("account"))
        let operation = RevokeGrant(try request.uuid("grant"), of: account, of: nil, in: environment)
        let performer = try console.performer(request)
        return try await console.database.withConnection { connection in
            if request.isDryRun {
                return console.page(of: try await operation.plan(on: connection, at: performer.now), request)
            }
            guard try await operation.perform(on: connection, by: performer).isEffective else {
                throw Fault(409, "Nothing was done: the grant is over.", "Reload the account.")
            }
            return .redirect(to: "\(Self.address(account, environment))?done=revoke")
        }
    }

    /// `POST /accounts/{environment}/{account}/choose`
    func choose(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let (environment, account) = (try request.environment(), try request.uuid("account"))
        let operation = ChooseAccount(account, of: try request.word("app", "the app"), in: environment)
        let performer = try console.performer(request)
        return try await console.database.withConnection { connection in
            if request.isDryRun { return console.page(of: try await operation.plan(on: connection), request) }
            try await operation.perform(on: connection, by: performer)
            return .redirect(to: "\(Self.address(account, environment))?done=choose")
        }
    }

    /// For each app of the account; where it is of none yet, for each of the environment.
    /// - Parameter apps: with the names that each knows.
    func forms(
        of account: UUID, in environment: StoreEnvironment, apps: [(bundleId: String, names: KnownNames)],
        _ request: ConsoleRequest
    ) -> [ActionForm] {
        let name = account.uuidString.lowercased()
        return apps.enumerated().flatMap { index, app in
            let place = "--environment \(environment.rawValue) --app \(shellWord(app.bundleId))"
            let title = apps.count > 1 ? " in \(app.bundleId)" : ""
            let product = app.names.all.first
            var forms = [
                ActionForm(
                    id: "grant-\(index)", title: "Grant access\(title)",
                    explanation:
                        "Gives this account of \(app.bundleId) an entitlement or a product, whatever it bought.",
                    address: "\(Self.address(account, environment))/grants", button: "Grant access",
                    hidden: [("app", app.bundleId), console.idField(request)],
                    inputs: [
                        ActionForm.Input(
                            id: "grant-product-\(index)", name: "product", label: "Entitlement or product",
                            type: "text", value: product ?? "", hint: nil, choices: app.names.all),
                        ActionForm.Input(
                            id: "grant-days-\(index)", name: "days", label: "Days", type: "number", value: "7",
                            hint: "1 to \(GrantAccess.days.upperBound); empty: until it is revoked.", isRequired: false),
                        ActionForm.Input(
                            id: "grant-unknown-\(index)", name: "unknown",
                            label: "Also one that is not in the list", type: "checkbox", value: "yes", hint: nil,
                            isRequired: false),
                    ],
                    command: "storekeeper customers grant \(name) \(shellWord(product ?? "PRODUCT")) \(place) --days 7 "
                        + "--reason REASON" + (product == nil ? " --confirm-unknown" : ""), offersPlan: true,
                    request)
            ]
            if request.role >= .operatorRole {
                forms.append(
                    ActionForm(
                        id: "choose-\(index)", title: "Choose this account\(title)",
                        explanation:
                            "Where several accounts of the app share an Apple account, this one is entitled, and others only if "
                            + "chosen as well.",
                        address: "\(Self.address(account, environment))/choose", button: "Choose this account",
                        hidden: [("app", app.bundleId)],
                        command: "storekeeper customers choose \(place) --note REASON \(name)", offersPlan: true,
                        request))
            }
            return forms
        }
    }

    func revokeForm(_ grant: CustomerRecords.ManualGrant, _ request: ConsoleRequest) -> ActionForm {
        let (id, name) = (grant.id.uuidString.lowercased(), grant.appAccountToken.uuidString.lowercased())
        return ActionForm(
            id: "revoke-\(id)", title: "Revoke this grant", explanation: "Ends the access that it gives now.",
            address: "\(Self.address(grant.appAccountToken, grant.environment))/grants/\(id)/revoke",
            button: "Revoke",
            command: "storekeeper customers revoke \(name) \(id) --environment \(grant.environment.rawValue) --app "
                + "\(shellWord(grant.bundleId)) --note REASON", isDangerous: true, offersPlan: true, request)
    }

    private static func address(_ account: UUID, _ environment: StoreEnvironment) -> String {
        "/accounts/\(environment.rawValue)/\(account.uuidString.lowercased())"
    }
}
