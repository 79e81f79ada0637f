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

    /// What consumables gave in one unit, and what refunds took back.
    struct Balance: Sendable {
        let unit: String
        let app: String
        let balance: String
        let credited: String
        let takenBack: String
        let transactions: String
        let newest: Moment
    }

    /// What the customer owes by a commitment, or is told in the app.
    struct Note: Sendable {
        let product: String
        let app: String
        let what: String
        let purchase: String
        let address: String
    }

    /// When the customer first got the app.
    struct FirstPurchase: Sendable {
        let app: String
        let version: String
        let date: Moment?
        let preorder: Moment?
        let access: String
    }

    /// The payments for one purchase.
    struct Paid: Sendable {
        let purchase: String
        let address: String
        let product: String
        let app: String
        let storefront: String
        /// The price of its newest transaction.
        let price: String
        let total: String
    }

    struct Erasure: Sendable {
        let app: String
        let address: String
    }

    struct Page: Sendable {
        let account: String
        let environment: String
        let sentence: String
        let hasAccess: Bool
        let lines: [Line]
        let hasLines: Bool
        let withheld: [Line]
        let hasWithheld: Bool
        let balances: [Balance]
        let hasBalances: Bool
        let notes: [Note]
        let hasNotes: Bool
        let grants: [Grant]
        let hasGrants: Bool
        let paid: [Paid]
        let hasPaid: Bool
        /// The total paid for all purchases.
        let paidInAll: String
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
        /// Those of the account, with the names that each knows; of an account without any, all of the environment.
        let apps: [(bundleId: String, names: KnownNames)]
        /// The transactions of the purchases that it may use while they give access, the newest first.
        let transactions: [ProductTransaction]
        let balances: [CreditStore.Balance]
        /// The purchases that it may use while they give access, with their state at the moment, no more than ``limit``.
        let purchases: [(subscription: Subscription, state: SubscriptionState)]
        /// The operators who granted, by the subject of the grant in the audit log.
        let granters: [String: String]

        var access: AccountAccess { view.access }
        /// For all purchases.
        var paid: [PaidTotal] { PaidTotal.all(of: transactions.map(\.version.facts)) }
    }

    /// The maximum number of purchases whose prices are listed.
    private static let limit = 200

    let console: Console

    /// `GET /accounts/{environment}/{account}`
    func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let (environment, account) = (try request.environment(), try request.uuid("account"))
        let now = console.clock.now()
        let contents = try await contents(of: account, in: environment, at: now)
        let access = contents.access
        let actions = AccountActions(console: console)
        let name = account.uuidString.lowercased()
        let paid = Self.paid(contents.transactions, environment)
        let notes = contents.purchases.flatMap { Self.notes($0.subscription, $0.state) }
        return console.page(
            "account", "Account \(name.prefix(8))",
            Page(
                account: name, environment: environment.rawValue, sentence: Self.sentence(access, now),
                hasAccess: !access.entitlements.isEmpty,
                lines: access.entitlements.map { entitlement in
                    Self.line(
                        entitlement.line, name: entitlement.name, why: Words.reason(entitlement.line), environment, now)
                },
                hasLines: !access.entitlements.isEmpty,
                withheld: access.withheld.map { line in
                    Self.line(
                        line, name: contents.view.products[line.id] ?? "not known",
                        why: Words.withheld(contents.view.reason(withheld: line)), environment, now)
                },
                hasWithheld: !access.withheld.isEmpty,
                balances: contents.balances.map { Self.balance($0, now) }, hasBalances: !contents.balances.isEmpty,
                notes: notes, hasNotes: !notes.isEmpty,
                grants: contents.grants.map { grant in
                    Grant(
                        product: grant.productId, app: grant.bundleId, from: Moment(grant.startsAt, now: now),
                        until: grant.endsAt.map { Moment($0, now: now) }, reason: grant.reason,
                        by: Self.granter(grant, contents.granters),
                        revoked: grant.revokedAt.map { Moment($0, now: now) },
                        form: grant.revokedAt == nil && grant.endsAt.map { $0 > now } ?? true
                            ? actions.revokeForm(grant, request) : nil)
                },
                hasGrants: !contents.grants.isEmpty,
                paid: paid, hasPaid: !paid.isEmpty, paidInAll: Self.text(contents.paid),
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
        json.objects("entitlements", of: contents.access.entitlements) { json, entitlement in
            let line = entitlement.line
            json.member("name", entitlement.name)
            json.member("productId", line.productId)
            json.member("bundleId", line.bundleId)
            json.member("startsAt", line.startsAt?.text)
            json.member("until", line.until?.text)
            json.member("reason", line.reason)
            json.member("purchase", line.id)
        }
        json.objects("withheld", of: contents.access.withheld) { json, line in
            json.member("bundleId", line.bundleId)
            json.member("purchase", line.id)
            json.member("productId", contents.view.products[line.id])
            json.member("reason", contents.view.reason(withheld: line).name)
        }
        json.objects("balances", of: contents.balances) { json, balance in
            json.member("bundleId", balance.bundleId)
            json.member("unit", balance.unit)
            json.member("balance", balance.balance)
            json.member("credited", balance.credited)
            json.member("takenBack", balance.takenBack)
            json.member("transactions", balance.credits)
        }
        json.objects("grants", of: contents.grants) { json, grant in
            json.member("productId", grant.productId)
            json.member("bundleId", grant.bundleId)
            json.member("startsAt", grant.startsAt.text)
            json.member("endsAt", grant.endsAt?.text)
            json.member("revokedAt", grant.revokedAt?.text)
            json.member("reason", grant.reason)
        }
        json.objects("appPurchases", of: contents.firstPurchases) { json, purchase in
            json.member("bundleId", purchase.bundleId)
            json.member("originalApplicationVersion", purchase.originalApplicationVersion)
            json.member("originalPurchaseDate", purchase.originalPurchaseDate?.text)
            json.member("preorderDate", purchase.preorderDate?.text)
        }
        json.objects("paid", of: contents.paid) { json, total in
            json.member("currency", total.currency)
            json.member("charged", total.charged)
            json.member("refunded", total.refunded)
            json.member("charges", total.charges)
        }
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
            func bought(_ transaction: ProductTransaction) -> (Date, Date) {
                let facts = transaction.version.facts
                return (facts.purchaseDate ?? .distantPast, facts.signedDate)
            }
            let transactions = try await TransactionStore(connection).transactions(
                ofAccount: account, in: environment
            ).sorted { bought($0) > bought($1) }
            let actions = try await OperatorActionStore(connection).actions(on: grants.map(\.subject))
                .filter { $0.operation == GrantAccess.name }
            let granters = actions.map { ($0.subject, $0.apiKey == nil ? $0.actor : "API key \($0.actor)") }
            let held =
                view.access.entitlements.map(\.line).filter { $0.source == .access }
                + view.access.withheld.filter { view.states[$0.id]?.givesAccess == false }
            let command = EntitlementStore.command(
                purchases: Array(Set(held.map(\.id)).sorted().suffix(Self.limit)), in: environment, at: now)
            let rows = try await connection.pipeline([command])[0]
            let states = try EntitlementStore.states(rows, at: now)
            let purchases = try EntitlementStore.subscriptions(rows).compactMap { subscription in
                states[subscription.key.originalTransactionId].map { (subscription, $0) }
            }
            return Contents(
                view: view, grants: grants, firstPurchases: firstPurchases, apps: apps, transactions: transactions,
                balances: try await CreditStore(connection).balances(of: account, in: environment, bundleIds: nil),
                purchases: purchases.sorted { $0.0.key.originalTransactionId > $1.0.key.originalTransactionId },
                granters: Dictionary(granters) { first, _ in first })
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

    private static func balance(_ balance: CreditStore.Balance, _ now: Date) -> Balance {
        Balance(
            unit: balance.unit, app: balance.bundleId, balance: Figures.grouped(balance.balance),
            credited: Figures.grouped(balance.credited), takenBack: Figures.grouped(balance.takenBack),
            transactions: Figures.grouped(balance.credits), newest: Moment(balance.creditedAt, now: now))
    }

    private static func notes(_ subscription: Subscription, _ state: SubscriptionState) -> [Note] {
        let (transaction, renewal) = (subscription.transaction, subscription.renewal)
        // What was owed by a purchase that is over is history, and on its own page.
        let commitment =
            state.givesAccess || state == .billingRetry || state == .overdue
            ? Commitment(transaction: transaction, renewal: renewal) : nil
        let sentences =
            (commitment.map { ["commitment: \($0.text(transaction, renewal))"] } ?? [])
            + StoreKitMessage.due(subscription, state).map { "message in the app: \($0.sentence)" }
        let (id, environment) = (subscription.key.originalTransactionId, subscription.key.environment.rawValue)
        return sentences.map { sentence in
            Note(
                product: transaction?.productId ?? renewal?.productId ?? "not known", app: subscription.bundleId,
                what: sentence, purchase: id, address: "/purchases/\(environment)/\(FormFields.encode(id))")
        }
    }

    private static func firstPurchase(_ purchase: AccountAppStore.FirstPurchase, _ now: Date) -> FirstPurchase {
        FirstPurchase(
            app: purchase.bundleId, version: purchase.originalApplicationVersion,
            date: purchase.originalPurchaseDate.map { Moment($0, now: now) },
            preorder: purchase.preorderDate.map { Moment($0, now: now) },
            access: purchase.isEntitled ? "yes" : "another account has it")
    }

    private static func granter(_ grant: CustomerRecords.ManualGrant, _ granters: [String: String]) -> String {
        granters[grant.subject]
            ?? (grant.createdBy == CustomerRecords.ManualGrant.byOperator
                ? "a person" : "API key \(grant.createdBy.uuidString.lowercased())")
    }

    /// Those of which a price is known, in the order of their newest transactions, and no more than ``limit``.
    private static func paid(_ transactions: [ProductTransaction], _ environment: StoreEnvironment) -> [Paid] {
        var order: [String] = []
        var purchases: [String: [ProductTransaction]] = [:]
        for transaction in transactions {
            if purchases[transaction.originalTransactionId] == nil { order.append(transaction.originalTransactionId) }
            purchases[transaction.originalTransactionId, default: []].append(transaction)
        }
        return order.prefix(limit).compactMap { id in
            guard let paid = purchases[id], let newest = paid.first else { return nil }
            let (facts, totals) = (newest.version.facts, PaidTotal.all(of: paid.map(\.version.facts)))
            guard facts.priceMilliunits != nil || !totals.isEmpty else { return nil }
            return Paid(
                purchase: id, address: "/purchases/\(environment.rawValue)/\(FormFields.encode(id))",
                product: (facts.quantity ?? 1) > 1 ? "\(facts.quantity ?? 1) × \(facts.productId)" : facts.productId,
                app: newest.bundleId, storefront: facts.storefront ?? "not told",
                price: facts.priceMilliunits.map { Figures.amount($0, facts.currency ?? "") } ?? "not told",
                total: Self.text(totals))
        }
    }

    private static func text(_ totals: [PaidTotal]) -> String {
        totals.isEmpty ? "nothing" : totals.map(\.text).joined(separator: "; ")
    }

    private static func sentence(_ access: AccountAccess, _ now: Date) -> String {
        func end(_ entitlement: AccountAccess.Entitlement) -> Date { entitlement.line.until ?? .distantFuture }
        guard let longest = access.entitlements.max(by: { end($0) < end($1) }) else {
            return access.withheld.isEmpty
                ? "Nothing is known of this account." : "This account may use nothing at the moment."
        }
        let until =
            longest.line.until.map { end in
                " until \(Moment(end, now: now).text) (\(Moment(end, now: now).distance))"
            } ?? " without an end"
        let more = access.entitlements.count > 1 ? ", and \(access.entitlements.count - 1) more" : ""
        return "This account may use \(longest.name)\(until)\(more)."
    }
}
