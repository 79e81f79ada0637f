import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// The original app version of an account's customer, from signed app transactions that were uploaded for the account. The
/// accounts that upload one are decided between as the claimants of a purchase are.
///
/// [AppTransaction](https://developer.apple.com/documentation/storekit/apptransaction)
package struct AccountAppStore: Sendable {
    /// Begins an identity that is a digest.
    package static let digestPrefix = "sha256:"

    /// The key of an identity, in place of a purchase's.
    private static func key(of identity: String, in environment: StoreEnvironment) -> SubscriptionKey {
        SubscriptionKey(environment: environment, originalTransactionId: TransferStore.appPrefix + identity)
    }

    let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Stores an app transaction for an account, and decides which of the accounts that uploaded it may use it. One upload after
    /// the other, so that as many accounts get it as the policy allows.
    /// - Parameters:
    ///   - isRestore: whether the customer asked for it, which moves it where the policy of the app says so.
    ///   - request: what it has decided before is not decided again; nil where its client cannot repeat it.
    ///   - audit: the entry of the audit log, written where the account gets it newly, with more evidence or with a date that it lacked, or it moves.
    @discardableResult
    package func add(
        _ app: AccountApp, isRestore: Bool, by request: TransferStore.Request? = nil, audit: OperatorAction? = nil
    ) async throws -> Outcome {
        // Apps send it again with each start: that needs no locks and writes nothing.
        if try await connection.pipeline([Self.command(held: app)])[0].affected > 0 { return .stored }
        return try await repeating {
            try await connection.transaction { transaction in
                try Self.add(app, isRestore: isRestore, by: request, audit: audit, in: transaction)
            }
        }
    }

    static func command(held app: AccountApp) -> Command {
        Command(
            held, app.environment.rawValue, app.bundleId, app.appAccountToken, app.identity, app.evidence.rawValue,
            app.preorderDate)
    }

    static func add(
        _ app: AccountApp, isRestore: Bool, by request: TransferStore.Request?, audit: OperatorAction?,
        in transaction: PostgresTransaction
    ) throws -> Outcome {
        let scope = CoverageStore.App(app.environment, app.bundleId)
        _ = try transaction.pipeline([ErasedAccounts.command(among: [])])
        let uploads = AppTransactionUploads(
            try AppTransactionUploads.locked([app.identity], of: app.appAccountToken, scope, in: transaction),
            adding: app.upload, in: app.environment)
        let customer = uploads.customer(of: app.identity)
        let inputs =
            try Self.inputs(of: [customer], in: uploads, scope, in: transaction)[customer] ?? OwnershipInputs()
        let claims = inputs.claims
        // Claims of one moment count in the order in which they came.
        let last = claims.map(\.since).max() ?? .distantPast
        let since = max(app.recordedAt, last.addingTimeInterval(0.001))
        var made = Self.claim(app.upload, of: customer, scope)
        (made.since, made.signedAt) = (since, since)
        let others = claims.contains { $0.appAccountToken != made.appAccountToken }
        // Apps send again what they keep: an old copy takes nothing from a stronger claim of the same account.
        let isClaimed = claims.contains {
            $0.appAccountToken == made.appAccountToken && $0.evidence != .old
        }
        if made.evidence == .old, others, !isClaimed { return .withheld(.oldCopy) }
        let known = inputs.accounts.first
        let decides = try isRestore && !Self.isDecided(by: request, scope, in: transaction)
        let transfer = decides ? known.flatMap { Self.transfer(made, $0, inputs) } : nil
        let isAdmitted =
            known?.admits(made, most: inputs.rule.mostAccounts, chosen: inputs.chosen) ?? true
        if !isAdmitted, transfer?.outcome != .accepted { return .withheld(.tooManyAccounts) }
        let written = try transaction.pipeline(
            [
                Command(
                    Self.insert, app.environment.rawValue, app.bundleId, app.appAccountToken, app.identity,
                    app.originalApplicationVersion, app.originalPurchaseDate, since,
                    app.evidence.rawValue, app.preorderDate)
            ] + (transfer.map { [TransferStore.command(adding: [$0], at: app.recordedAt, by: request)] } ?? []))
        let decided = try Self.decide(
            AppTransactionUploads.read([app.identity], of: app.appAccountToken, scope, in: transaction), scope,
            in: transaction)
        if let audit, written[0].affected > 0 || transfer?.outcome == .accepted {
            _ = try transaction.pipeline([OperatorActionStore.command(recording: [audit])])
        }
        let own = decided.first { $0.key == made.key && $0.appAccountToken == made.appAccountToken }
        guard let own, !own.mayUse else { return .stored }
        return .withheld(transfer?.outcome == .tooMany ? .tooManyTransfers : WithheldReason(own.because))
    }

    /// True where the request has decided about an app transaction before; a request has one at most.
    private static func isDecided(
        by request: TransferStore.Request?, _ app: CoverageStore.App, in transaction: PostgresTransaction
    ) throws -> Bool {
        guard let request else { return false }
        let rows = try transaction.pipeline([TransferStore.command(decidedBy: request, in: app)])[0]
        return try TransferStore.outcomes(rows).keys.contains {
            $0.originalTransactionId.hasPrefix(TransferStore.appPrefix)
        }
    }

    /// The first purchases of apps that were uploaded for an account, by app.
    /// - Parameter bundleId: nil means all apps.
    package func firstPurchases(
        of account: UUID, in environment: StoreEnvironment, of bundleId: String? = nil
    ) async throws -> [FirstPurchase] {
        try await connection.execute(Self.firstPurchases, environment.rawValue, account, bundleId).map { row in
            FirstPurchase(
                bundleId: try row.value("bundle_id"),
                originalApplicationVersion: try row.value("original_application_version"),
                originalPurchaseDate: try row.optional("original_purchased_at"),
                preorderDate: try row.optional("preordered_at"), isEntitled: try row.value("is_entitled"))
        }
    }

    /// Decides which of the accounts that uploaded app transactions may use what the purchases of the app give, under their locks.
    static func decide(_ identities: [String], _ app: CoverageStore.App, in transaction: PostgresTransaction) throws {
        guard !identities.isEmpty else { return }
        _ = try decide(AppTransactionUploads.locked(identities, app, in: transaction), app, in: transaction)
    }

    private static func decide(
        _ uploads: [AppTransactionUploads.Upload], _ app: CoverageStore.App, in transaction: PostgresTransaction
    ) throws -> [PurchaseAccount] {
        let uploads = AppTransactionUploads(uploads, in: app.environment)
        let inputs = try inputs(of: uploads.all, in: uploads, app, in: transaction)
        let decided = uploads.all.map { customer in (customer, inputs[customer]?.decided() ?? []) }
        _ = try transaction.pipeline(
            decided.map { customer, accounts in
                let entitled = accounts.filter(\.mayUse).compactMap { UUID(uuidString: $0.appAccountToken) }
                let identities = Set(uploads.uploads(of: customer).map(\.identity)).sorted()
                return Command(Self.entitle, app.environment.rawValue, app.bundleId, identities, entitled)
            })
        return decided.flatMap(\.1)
    }

    /// The app transactions that were uploaded for an account.
    static func identities(
        of account: UUID, _ app: CoverageStore.App, in transaction: PostgresTransaction
    ) throws -> [String] {
        try transaction.execute(Self.identities, app.environment.rawValue, app.bundleId, account).map { row in
            try row.value("identity")
        }
    }

    /// The facts that decide about the customers of uploads, by customer.
    static func inputs(
        of customers: [String], in uploads: AppTransactionUploads, _ app: CoverageStore.App,
        in transaction: PostgresTransaction
    ) throws -> [String: OwnershipInputs] {
        func key(_ identity: String) -> SubscriptionKey { Self.key(of: identity, in: app.environment) }
        let customerOf = customers.reduce(into: [SubscriptionKey: String]()) { customerOf, customer in
            for identity in uploads.uploads(of: customer).map(\.identity) + [customer] {
                customerOf[key(identity)] = customer
            }
        }
        let read = try transaction.pipeline([
            SharingStore.command(policyOf: app),
            Command(SharingStore.chosen, app.environment.rawValue, app.bundleId),
            TransferStore.command(movesOf: customerOf.keys.map(\.originalTransactionId).sorted(), in: app),
        ])
        let rule = try SharingStore.rules(read[0])[app] ?? SharingStore.Rule()
        let chosen = try Set(read[1].map { row in try row.value("app_account_token", as: String.self) })
        let moves = Dictionary(grouping: try TransferStore.moves(read[2])) { customerOf[$0.key] }
        return customers.reduce(into: [:]) { inputs, customer in
            inputs[customer] = OwnershipInputs(
                rule: rule, claims: uploads.uploads(of: customer).map { claim($0, of: customer, app) },
                moves: (moves[customer] ?? []).map { move in
                    PurchaseMove(
                        key: key(customer), to: move.to, movedAt: move.movedAt, isCounted: move.isCounted,
                        isOfLapsed: move.isOfLapsed)
                },
                chosen: chosen)
        }
    }

    private static func claim(
        _ upload: AppTransactionUploads.Upload, of customer: String, _ app: CoverageStore.App
    ) -> AccountClaim {
        AccountClaim(
            key: key(of: customer, in: app.environment), bundleId: app.bundleId, appTransactionId: nil,
            appAccountToken: upload.appAccountToken.uuidString.lowercased(), evidence: upload.evidence,
            since: upload.recordedAt)
    }

    private static func transfer(
        _ made: AccountClaim, _ account: AppleAccount, _ inputs: OwnershipInputs
    ) -> TransferStore.Transfer? {
        let (rule, chosen) = (inputs.rule, inputs.chosen)
        let holders = account.entitledTokens(to: made.key, rule.policy, most: rule.mostAccounts, chosen: chosen)
        let restore = Restore(
            account: made.appAccountToken, evidence: made.evidence, holders: holders, buyer: nil,
            isChosenByOperator: account.isChosen(for: made.key, chosen), isLapsed: false,
            countedMoves: inputs.moves.count(of: [made.key], before: made.since))
        guard let outcome = restore.outcome(rule.policy, needsDevice: rule.needsDevice), let holder = holders.first
        else { return nil }
        return TransferStore.Transfer(
            key: made.key, bundleId: made.bundleId, from: holder, to: made.appAccountToken, evidence: made.evidence,
            policy: rule.policy, outcome: outcome, isCounted: true)
    }

    static let statements = [held, identities, insert, entitle, firstPurchases] + AppTransactionUploads.statements

    private static let firstPurchases = Statement(
        "account-app-first-purchases",
        """
        select bundle_id, original_application_version, original_purchased_at, preordered_at, is_entitled
        from account_app
        where environment = $1::text::store_environment and app_account_token = $2::uuid
            and ($3::text is null or bundle_id = $3::text)
        order by bundle_id, original_purchased_at, identity
        """)

    /// One row where the account may use it, and another upload with this evidence would change nothing. While a policy is being applied,
    /// what is stored may be decided by the one before.
    private static let held = Statement(
        "account-app-held",
        """
        select
        from account_app
        where environment = $1::text::store_environment and bundle_id = $2::text and app_account_token = $3::uuid
            and identity = $4::text and is_entitled and evidence <= $5::text::claim_evidence
            and (preordered_at is not null or $6::timestamptz is null)
            and not exists (
                select
                from sharing_policy
                where sharing_policy.environment = $1::text::store_environment and sharing_policy.bundle_id = $2::text
                    and not is_applied)
        """)

    private static let identities = Statement(
        "account-app-identities",
        """
        select identity
        from account_app
        where environment = $1::text::store_environment and bundle_id = $2::text and app_account_token = $3::uuid
        """)

    private static let insert = Statement(
        "account-app-insert",
        """
        insert into account_app as held (
            environment, bundle_id, app_account_token, identity, original_application_version, original_purchased_at,
            recorded_at, evidence, preordered_at)
        values (
            $1::text::store_environment, $2::text, $3::uuid, $4::text, $5::text, $6::timestamptz, $7::timestamptz,
            $8::text::claim_evidence, $9::timestamptz)
        on conflict (app_account_token, environment, bundle_id, identity) do update
        set evidence = least(held.evidence, excluded.evidence),
            recorded_at = case when held.evidence > excluded.evidence then excluded.recorded_at else held.recorded_at end,
            preordered_at = coalesce(held.preordered_at, excluded.preordered_at)
        where held.evidence > excluded.evidence or held.preordered_at is null and excluded.preordered_at is not null
        """)

    private static let entitle = Statement(
        "account-app-entitle",
        """
        update account_app
        set is_entitled = app_account_token = any ($4::uuid[])
        where environment = $1::text::store_environment and bundle_id = $2::text and identity = any ($3::text[])
            and is_entitled <> (app_account_token = any ($4::uuid[]))
        """)
}
