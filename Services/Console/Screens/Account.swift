import Contracts
import Operations
import Postgres
import Storage
import StrictJSON
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// One account of an app: what it may use and why, what is withheld, and what people gave it.
struct AccountScreen: Sendable {
    struct Line: Sendable {
        let product: String
        let app: String
        let until: Moment?
        let why: String
        let purchase: String?
        let address: String?
    }

    struct Grant: Sendable {
        let product: String
        let app: String
        let from: Moment
        let until: Moment?
        let reason: String
        let by: String
        let revoked: Moment?
        let form: ActionForm?
    }

    /// When the customer first got the app.
    struct FirstPurchase: Sendable {
        let app: String
        let version: String
        let date: Moment?
        let preorder: Moment?
        let access: String
    }

    struct Erasure: Sendable {
        let app: String
        let address: String
    }

    struct Page: Sendable {
        let account: String
        let environment: String
        let sentence: String
        /// For each currency; nil where nothing was paid, or Apple signed no price.
        let paid: String?
        let hasAccess: Bool
        let lines: [Line]
        let hasLines: Bool
        let withheld: [Line]
        let hasWithheld: Bool
        let grants: [Grant]
        let hasGrants: Bool
        let firstPurchases: [FirstPurchase]
        let hasFirstPurchases: Bool
        let export: String
        /// Where an account is erased, for each app; for admins.
        let erasures: [Erasure]
        let forms: [ActionForm]
    }

    /// What is stored about an account.
    struct Contents: Sendable {
        let view: AccountView
        let grants: [CustomerRecords.ManualGrant]
        let firstPurchases: [AccountAppStore.FirstPurchase]
        /// For all purchases that it may use while they give access.
        let paid: [PaidTotal]
        /// Those of the account, with the names that each knows; of an account without any, all of the environment.
        let apps: [(bundleId: String, names: KnownNames)]

        var access: AccountAccess { view.access }
    }

    let console: Console

    /// `GET /accounts/{environment}/{account}`
    func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let (environment, account) = (try request.environment(), try request.uuid("account"))
        let now = console.clock.now()
        let contents = try await contents(of: account, in: environment, at: now)
        let access = contents.access
        let actions = AccountActions(console: console)
        let name = account.uuidString.lowercased()
        return console.page(
            "account", "Account \(name.prefix(8))",
            Page(
                account: name, environment: environment.rawValue, sentence: Self.sentence(access, now),
                paid: contents.paid.isEmpty ? nil : contents.paid.map(\.text).joined(separator: "; "),
                hasAccess: !access.entitlements.isEmpty,
                lines: access.entitlements.map { entitlement in
                    Self.line(
                        entitlement.line, name: entitlement.name, why: Words.reason(entitlement.line), environment, now)
                },
                hasLines: !access.entitlements.isEmpty,
                withheld: access.withheld.map { line in
                    Self.line(line, why: Self.withheld(contents.view.states[line.id]), environment, now)
                },
                hasWithheld: !access.withheld.isEmpty,
                grants: contents.grants.map { grant in
                    Grant(
                        product: grant.productId, app: grant.bundleId, from: Moment(grant.startsAt, now: now),
                        until: grant.endsAt.map { Moment($0, now: now) }, reason: grant.reason,
                        by: grant.createdBy == CustomerRecords.ManualGrant.byOperator
                            ? "a person, see the audit log" : "API key \(grant.createdBy.uuidString.lowercased())",
                        revoked: grant.revokedAt.map { Moment($0, now: now) },
                        form: grant.revokedAt == nil && grant.endsAt.map { $0 > now } ?? true
                            ? actions.revokeForm(grant, request) : nil)
                },
                hasGrants: !contents.grants.isEmpty,
                firstPurchases: contents.firstPurchases.map { Self.firstPurchase($0, now) },
                hasFirstPurchases: !contents.firstPurchases.isEmpty,
                export: "/accounts/\(environment.rawValue)/\(name)/export",
                erasures: request.role < .admin
                    ? []
                    : contents.apps.map { app, _ in
                        Erasure(
                            app: app,
                            address: "/accounts/\(environment.rawValue)/\(name)/erasure"
                                + FormFields.query([("app", app)]))
                    },
                forms: actions.forms(of: account, in: environment, apps: contents.apps, request)),
            request)
    }

    /// `GET /accounts/{environment}/{account}/export`: for a customer who asks what is stored.
    func export(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let (environment, account) = (try request.environment(), try request.uuid("account"))
        let now = console.clock.now()
        let contents = try await contents(of: account, in: environment, at: now)
        var json = JSONWriter(capacity: 4096)
        json.beginObject()
        json.member("appAccountToken", account.uuidString.lowercased())
        json.member("environment", environment.rawValue)
        json.member("asOf", now.text)
        json.beginArray("entitlements")
        for entitlement in contents.access.entitlements {
            let line = entitlement.line
            json.beginObject()
            json.member("name", entitlement.name)
            json.member("productId", line.productId)
            json.member("bundleId", line.bundleId)
            json.member("startsAt", line.startsAt?.text)
            json.member("until", line.until?.text)
            json.member("reason", line.reason)
            json.member("purchase", line.id)
            json.endObject()
        }
        json.endArray()
        json.beginArray("withheld")
        for line in contents.access.withheld {
            json.beginObject()
            json.member("bundleId", line.bundleId)
            json.member("purchase", line.id)
            json.member("reason", contents.view.reason(withheld: line))
            json.endObject()
        }
        json.endArray()
        json.beginArray("grants")
        for grant in contents.grants {
            json.beginObject()
            json.member("productId", grant.productId)
            json.member("bundleId", grant.bundleId)
            json.member("startsAt", grant.startsAt.text)
            json.member("endsAt", grant.endsAt?.text)
            json.member("revokedAt", grant.revokedAt?.text)
            json.member("reason", grant.reason)
            json.endObject()
        }
        json.endArray()
        json.beginArray("appPurchases")
        for purchase in contents.firstPurchases {
            json.beginObject()
            json.member("bundleId", purchase.bundleId)
            json.member("originalApplicationVersion", purchase.originalApplicationVersion)
            json.member("originalPurchaseDate", purchase.originalPurchaseDate?.text)
            json.member("preorderDate", purchase.preorderDate?.text)
            json.endObject()
        }
        json.endArray()
        json.beginArray("paid")
        for total in contents.paid {
            json.beginObject()
            json.member("currency", total.currency)
            json.member("charged", total.charged)
            json.member("refunded", total.refunded)
            json.member("charges", total.charges)
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return .download(
            PrettyJSON(json.bytes)?.text ?? "", type: "application/json",
            as: "account-\(account.uuidString.lowercased()).json")
    }

    private func contents(
        of account: UUID, in environment: StoreEnvironment, at now: Date
    ) async throws -> Contents {
        try await console.database.withConnection { connection in
            let view = try await AccountView(of: account, in: environment, at: now, on: connection)
            let records = CustomerRecords(connection)
            let grants = try await records.grants(of: account, in: environment)
            let known = try await ConsolePages(connection).apps().filter { $0.environment == environment }
                .map(\.bundleId)
            let customers = try await records.customers(with: account, of: known, in: environment)
            let firstPurchases = try await AccountAppStore(connection).firstPurchases(of: account, in: environment)
            let own = Set(
                view.access.apps + grants.map(\.bundleId) + customers.map(\.bundleId) + firstPurchases.map(\.bundleId))
            var apps: [(bundleId: String, names: KnownNames)] = []
            for app in own.isEmpty ? known : own.sorted() {
                apps.append((app, try await EntitlementDefinitionStore(connection).names(of: app, in: environment)))
            }
            let paid = PaidTotal.all(
                of: try await TransactionStore(connection).transactions(ofAccount: account, in: environment))
            return Contents(view: view, grants: grants, firstPurchases: firstPurchases, paid: paid, apps: apps)
        }
    }

    private static func line(
        _ line: EntitlementStore.Line, name: String? = nil, why: String, _ environment: StoreEnvironment, _ now: Date
    ) -> Line {
        let isPurchase = line.source == .access || line.source == .purchase
        return Line(
            product: name ?? line.productId ?? "", app: line.bundleId, until: line.until.map { Moment($0, now: now) },
            why: why, purchase: isPurchase ? line.id : nil,
            address: isPurchase ? "/purchases/\(environment.rawValue)/\(FormFields.encode(line.id))" : nil)
    }

    private static func firstPurchase(_ purchase: AccountAppStore.FirstPurchase, _ now: Date) -> FirstPurchase {
        FirstPurchase(
            app: purchase.bundleId, version: purchase.originalApplicationVersion,
            date: purchase.originalPurchaseDate.map { Moment($0, now: now) },
            preorder: purchase.preorderDate.map { Moment($0, now: now) },
            access: purchase.isEntitled ? "yes" : "another account has it")
    }

    private static func sentence(_ access: AccountAccess, _ now: Date) -> String {
        guard let first = access.entitlements.first else {
            return access.withheld.isEmpty
                ? "Nothing is known of this account." : "This account may use nothing at the moment."
        }
        let until =
            first.line.until.map { end in
                " until \(Moment(end, now: now).text) (\(Moment(end, now: now).distance))"
            } ?? " without an end"
        let more = access.entitlements.count > 1 ? ", and \(access.entitlements.count - 1) more" : ""
        return "This account may use \(first.name)\(until)\(more)."
    }

    private static func withheld(_ state: SubscriptionState?) -> String {
        guard let state else { return "no notification about it is known" }
        return state.givesAccess ? "another account is entitled to it" : Words.state(state)
    }
}
