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
        let app = try Self.text("app", "the app", request)
        let product = try Self.text("product", "the product", request)
        guard let days = Int(request.form["days"] ?? ""), (1...3660).contains(days) else {
            throw Fault(422, "Nothing was granted: the number of days is missing.", "Go back and give 1 to 3660.")
        }
        let name = account.uuidString.lowercased()
        let audit = try console.action(
            "customers grant", on: "\(app) \(environment.rawValue) \(name) \(product) for \(days.counted("day"))",
            request, about: OperatorAction.About(environment, app, account: account))
        let now = console.clock.now()
        let grant = CustomerRecords.ManualGrant(
            id: console.newId(), environment: environment, bundleId: app, appAccountToken: account, productId: product,
            reason: audit.note ?? "", startsAt: now, endsAt: now.addingTimeInterval(Double(days) * 86_400),
            createdAt: now, createdBy: CustomerRecords.ManualGrant.byOperator)
        try await console.database.withConnection { connection in
            guard try await ConsolePages(connection).apps().contains(CoverageStore.App(environment, app)) else {
                throw Fault(
                    422, "Nothing was granted: the ledger knows no app \(app) in \(environment.rawValue).",
                    "Go back and choose an app.")
            }
            try await OperatorWork(connection).grant(grant, audit: audit)
        }
        return .redirect(to: "\(Self.address(account, environment))?done=grant")
    }

    /// `POST /accounts/{environment}/{account}/grants/{grant}/revoke`
    func revoke(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let (environment, account) = (try request.environment(), try request.uuid("account"))
        let grant = try request.uuid("grant")
        let audit = try console.action(
            "customers revoke",
            on: "\(environment.rawValue) \(account.uuidString.lowercased()) \(grant.uuidString.lowercased())", request)
        let isRevoked = try await console.database.withConnection { connection in
            try await OperatorWork(connection).revoke(
                grant, of: account, in: environment, at: console.clock.now(), audit: audit)
        }
        guard isRevoked else {
            throw Fault(
                409, "Nothing was done: this account has no such grant, or the grant is over.", "Reload the account.")
        }
        return .redirect(to: "\(Self.address(account, environment))?done=revoke")
    }

    /// `POST /accounts/{environment}/{account}/choose`
    func choose(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let (environment, account) = (try request.environment(), try request.uuid("account"))
        let app = try Self.text("app", "the app", request)
        let audit = try console.action(
            "customers choose", on: "\(app) \(environment.rawValue) \(account.uuidString.lowercased())", request,
            about: OperatorAction.About(environment, app, account: account))
        try await console.database.withConnection { connection in
            try await OperatorWork(connection).choose(
                account, of: app, in: environment, at: console.clock.now(), audit: audit)
        }
        return .redirect(to: "\(Self.address(account, environment))?done=choose")
    }

    func forms(
        of account: UUID, in environment: StoreEnvironment, apps: [String], _ request: ConsoleRequest
    ) -> [ActionForm] {
        let name = account.uuidString.lowercased()
        let app = apps.first ?? ""
        let appInput = ActionForm.Input(
            id: "grant-app", name: "app", label: "App (bundle id)", type: "text", value: app, hint: nil)
        var forms = [
            ActionForm(
                id: "grant", title: "Grant access",
                explanation: "Gives this account access to a product for some days, whatever it bought.",
                address: "\(Self.address(account, environment))/grants", button: "Grant access",
                inputs: [
                    appInput,
                    ActionForm.Input(
                        id: "grant-product", name: "product", label: "Product", type: "text", value: "",
                        hint: "The id of the product or entitlement, such as pro.monthly."),
                    ActionForm.Input(
                        id: "grant-days", name: "days", label: "Days", type: "number", value: "7", hint: nil),
                ],
                command: "storekeeper customers grant CUSTOMER PRODUCT --environment \(environment.rawValue) --app "
                    + "\(shellWord(app)) --days 7 --reason REASON",
                request)
        ]
        if request.role >= .operatorRole {
            forms.append(
                ActionForm(
                    id: "choose", title: "Choose this account",
                    explanation:
                        "Where several accounts of the app share an Apple account, this one is entitled, and others only if "
                        + "chosen as well.",
                    address: "\(Self.address(account, environment))/choose", button: "Choose this account",
                    inputs: [
                        ActionForm.Input(
                            id: "choose-app", name: "app", label: "App (bundle id)", type: "text", value: app, hint: nil
                        )
                    ],
                    command:
                        "storekeeper customers choose --environment \(environment.rawValue) --app \(shellWord(app)) "
                        + "--note REASON \(name)",
                    request))
        }
        return forms
    }

    func revokeForm(_ grant: CustomerRecords.ManualGrant, _ request: ConsoleRequest) -> ActionForm {
        let id = grant.id.uuidString.lowercased()
        return ActionForm(
            id: "revoke-\(id)", title: "Revoke this grant", explanation: "Ends the access that it gives now.",
            address: "\(Self.address(grant.appAccountToken, grant.environment))/grants/\(id)/revoke",
            button: "Revoke",
            command: "storekeeper customers revoke CUSTOMER \(id) --environment \(grant.environment.rawValue) --app "
                + "\(shellWord(grant.bundleId)) --note REASON", isDangerous: true, request)
    }

    private static func address(_ account: UUID, _ environment: StoreEnvironment) -> String {
        "/accounts/\(environment.rawValue)/\(account.uuidString.lowercased())"
    }

    private static func text(_ name: String, _ words: String, _ request: ConsoleRequest) throws -> String {
        let text = (request.form[name] ?? "").filter { !$0.isWhitespace }
        guard (1...200).contains(text.utf8.count) else {
            throw Fault(422, "Nothing was done: \(words) is missing.", "Go back and give it.")
        }
        return text
    }
}
