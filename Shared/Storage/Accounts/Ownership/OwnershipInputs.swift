import Contracts
import Postgres
import Subscriptions

/// What decides who may use some purchases of an app, and who may use them by the stored decision.
struct OwnershipInputs: Sendable {
    var rule = SharingStore.Rule()
    var purchases: [OwnedPurchase] = []
    var claims: [AccountClaim] = []
    /// In the order of their acceptance.
    var moves: [PurchaseMove] = []
    /// The accounts that operators chose; among others those that own or claim the purchases.
    var chosen: Set<String> = []
    /// The stored decision.
    var held: [PurchaseAccount] = []

    var accounts: [AppleAccount] { AppleAccount.all(in: claims, purchases: purchases, moves: moves) }

    /// - Parameter other: nil means the rule of the app.
    func decided(by other: SharingStore.Rule? = nil) -> [PurchaseAccount] {
        let rule = other ?? self.rule
        return accounts.flatMap { $0.accounts(rule.policy, most: rule.mostAccounts, chosen: chosen) }
    }

    /// A purchase, and those that migrations replaced by it.
    func replaced(by key: SubscriptionKey) -> Set<SubscriptionKey> {
        var keys: Set = [key]
        var last = key
        while let origin = purchases.first(where: { $0.key == last })?.migratedFrom {
            last = SubscriptionKey(environment: last.environment, originalTransactionId: origin)
            guard keys.insert(last).inserted else { break }
        }
        return keys
    }

    /// The commands that read the inputs of purchases; ``read(_:)`` decodes their results.
    static func commands(reading purchases: Set<OwnershipChange.Name>) -> [Command] {
        [Command(SharingStore.policies)] + commands([owned, claims, moves, chosen, held], purchases)
    }

    /// The commands that read what was claimed and moved, for a preview, which computes the purchases and decides itself;
    /// ``read(_:claimedIn:)`` decodes their results.
    static func commands(readingClaimsOn purchases: Set<OwnershipChange.Name>) -> [Command] {
        commands([claims, moves], purchases)
    }

    private static func commands(_ statements: [Statement], _ purchases: Set<OwnershipChange.Name>) -> [Command] {
        let sorted = purchases.sorted { $0.id < $1.id }
        let (environments, bundles, ids) = (
            sorted.map(\.app.environment.rawValue), sorted.map(\.app.bundleId), sorted.map(\.id)
        )
        return statements.map { Command($0, environments, bundles, ids) }
    }

    static func read(_ rows: ArraySlice<Rows>, claimedIn app: CoverageStore.App) throws -> OwnershipInputs {
        let first = rows.startIndex
        return OwnershipInputs(
            claims: try rows[first].map { row in try AccountClaim(row, of: app.bundleId, in: app.environment) },
            moves: try TransferStore.moves(rows[first + 1]))
    }

    static func read(_ rows: ArraySlice<Rows>) throws -> [CoverageStore.App: OwnershipInputs] {
        var inputs: [CoverageStore.App: OwnershipInputs] = [:]
        let first = rows.startIndex
        func each(_ place: Int, _ body: (Row, CoverageStore.App, inout OwnershipInputs) throws -> Void) throws {
            for row in rows[first + place] {
                let app = CoverageStore.App(
                    try StoreEnvironment(stored: row.value("environment")), try row.value("bundle_id"))
                try body(row, app, &inputs[app, default: OwnershipInputs()])
            }
        }
        try each(1) { row, app, inputs in
            inputs.purchases.append(
                OwnedPurchase(
                    key: try SubscriptionStore.key(row), bundleId: app.bundleId,
                    appTransactionId: try row.optional("app_transaction_id"),
                    appAccountToken: try row.optional("owner_account"), boughtAt: try row.optional("bought_at"),
                    boughtUntil: try row.optional("bought_until"), migratedFrom: try row.optional("migrated_from"),
                    migratedAt: try row.optional("migrated_at")))
        }
        try each(2) { row, app, inputs in
            inputs.claims.append(try AccountClaim(row, of: app.bundleId, in: app.environment))
        }
        try each(3) { row, _, inputs in inputs.moves.append(try TransferStore.move(row)) }
        try each(4) { row, _, inputs in inputs.chosen.insert(try row.value("app_account_token")) }
        try each(5) { row, app, inputs in
            inputs.held.append(
                PurchaseAccount(
                    key: try SubscriptionStore.key(row), bundleId: app.bundleId,
                    appAccountToken: try row.value("app_account_token"), mayUse: try row.value("may_use"),
                    because: PurchaseAccount.Reason(rawValue: try row.value("because")) ?? .refused))
        }
        for (app, rule) in try SharingStore.rules(rows[first]) { inputs[app]?.rule = rule }
        return inputs
    }

    static let statements = [owned, claims, moves, chosen, held]

    private static let given = """
        unnest($1::text[], $2::text[], $3::text[]) as given (given_environment, given_bundle, given_purchase)
        """

    /// One look-up by index for each purchase, see ``PurchaseKeys``.
    private static func lookingUp(_ table: String, _ condition: String = "") -> String {
        """
        from \(given)
        cross join lateral (
            select *
            from \(table)
            where environment = given_environment::store_environment and original_transaction_id = given_purchase
                and bundle_id = given_bundle\(condition)
            offset 0
        ) as \(table)
        """
    }

    private static let owned = Statement(
        "ownership-purchases",
        unsafeSQL: """
            select environment::text as environment, bundle_id, original_transaction_id, app_transaction_id,
                owner_account_token::text as owner_account, bought_at, bought_until, migrated_from, migrated_at
            \(lookingUp("subscription"))
            cross join lateral (
                select max(purchased_at) filter (
                        where transaction_reason = 'PURCHASE' and app_account_token is not null) as bought_at,
                    -- What lasts for ever until Date.distantFuture.
                    max(
                        coalesce(
                            least(expires_at, revoked_at, replaced_at),
                            case when product_type in ('Non-Consumable', 'Consumable') then '4001-01-01Z'::timestamptz end
                        )
                    ) filter (
                        where transaction_reason = 'PURCHASE' and app_account_token is not null and not is_upgraded
                    ) as bought_until,
                    min(previous_original_transaction_id collate "C") filter (
                        where previous_original_transaction_id <> given_purchase) as migrated_from,
                    min(purchased_at) filter (where previous_original_transaction_id <> given_purchase) as migrated_at
                from (
                    select *, min(purchased_at) filter (where transaction_reason = 'PURCHASE') over (
                            order by purchased_at groups between 1 following and unbounded following) as replaced_at
                    from transaction
                    where environment = given_environment::store_environment
                        and original_transaction_id = given_purchase
                ) as paid
            ) as bought
            """)

    private static let claims = Statement(
        "ownership-claims",
        unsafeSQL: """
            select environment::text as environment, bundle_id, original_transaction_id, app_transaction_id,
                app_account_token::text as app_account_token, since, signed_at, evidence::text as evidence
            \(lookingUp("account_claim"))
            """)

    private static let moves = Statement(
        "ownership-moves",
        unsafeSQL: """
            select environment::text as environment, bundle_id, original_transaction_id,
                to_account_token::text as to_account, moved_at, is_counted, policy
            \(lookingUp("purchase_transfer", " and outcome = 'accepted'"))
            order by id
            """)

    /// Looks nothing up where no account was chosen.
    private static let chosen = Statement(
        "ownership-chosen",
        unsafeSQL: """
            select distinct environment::text as environment, bundle_id, app_account_token::text as app_account_token
            from \(given)
            cross join lateral (
                select app_account_token as token
                from account_claim
                where environment = given_environment::store_environment and original_transaction_id = given_purchase
                    and bundle_id = given_bundle
                union all
                select owner_account_token
                from subscription
                where environment = given_environment::store_environment and original_transaction_id = given_purchase
                    and bundle_id = given_bundle
            ) as named
            cross join lateral (
                select *
                from chosen_account
                where environment = given_environment::store_environment and bundle_id = given_bundle
                    and app_account_token = token
                offset 0
            ) as chosen
            where exists (select from chosen_account)
            """)

    private static let held = Statement(
        "ownership-held",
        unsafeSQL: """
            select environment::text as environment, bundle_id, original_transaction_id,
                app_account_token::text as app_account_token, may_use, because
            \(lookingUp("purchase_account"))
            """)
}
