import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// The state after verified events that the pipeline has not written yet.
///
/// The state is the greatest of all facts in an order that the events decide, so it can be computed before it is written:
/// the code of `LedgerStore.apply` joins stored facts and new ones. The preview writes and locks nothing.
public struct StatePreview: Sendable {
    /// One purchase after the events.
    public struct Purchase: Sendable {
        /// The newest facts of the purchase.
        public var subscription: Subscription
        /// The newest version of each transaction, in no order.
        public var transactions: [TransactionVersion]
        /// The access periods, in time order.
        public var periods: [AccessStore.Period]
        /// The revision after the events.
        public var revision: Int64
        /// Whether an event is about it; false where it only belongs to the same Apple account.
        public var isNamed: Bool
    }

    /// The purchases of the events, and all others of their Apple accounts and of the given account.
    public let purchases: [SubscriptionKey: Purchase]
    /// The claims of the uploading account. The pipeline does not write them.
    public let claims: [AccountClaim]
    /// The purchases that the uploading account restores from others, moved or not.
    package let transfers: [TransferStore.Transfer]
    /// Whether the account of the preview was erased: it gets no claims again.
    public let isAccountErased: Bool

    /// What the account has beside purchases: by hand, or by the version of the app.
    let given: [EntitlementStore.Line]

    private let bundleId: String
    private let accounts: [AppleAccount]
    private let claimants: [SubscriptionKey: Set<String>]
    private let policy: SharingPolicy
    private let chosen: Set<String>

    /// The access of an account at a moment, as `AccessStore` will answer after the events are written.
    /// - Returns: nil where no purchase of the app names the account.
    public func access(ofAccount token: UUID, at moment: Date) -> [AccessStore.Period]? {
        guard accounts.contains(where: { $0.concerns(token.lowercasedText) }) else { return nil }
        return served(token).flatMap { purchases[$0]?.periods ?? [] }
            .filter { $0.bundleId == bundleId && $0.contains(moment) }.sorted { $0.startsAt < $1.startsAt }
    }

    /// The purchases that an account may use when they give access.
    package func served(_ token: UUID) -> [SubscriptionKey] {
        let token = token.lowercasedText
        return accounts.filter { $0.concerns(token) }.flatMap { account in
            account.keys.filter { account.entitledTokens(to: $0, policy, chosen: chosen).contains(token) }
        }
    }

    /// Whether Apple names an account as the purchase's.
    package func isOwner(_ token: UUID, of key: SubscriptionKey) -> Bool {
        purchases[key]?.subscription.appAccountToken == token.lowercasedText
    }

    /// Whether another account owns or claims a purchase, or another one of its Apple account.
    package func isTaken(_ key: SubscriptionKey, from token: UUID) -> Bool {
        accounts.contains { $0.keys.contains(key) && $0.concernsOthers(than: token.lowercasedText) }
    }

    /// The purchases that an account owns or claims.
    func ownedOrClaimed(_ token: UUID) -> [SubscriptionKey] {
        let token = token.lowercasedText
        return purchases.filter { key, purchase in
            purchase.subscription.appAccountToken == token || claimants[key]?.contains(token) ?? false
        }.map(\.key)
    }

    init(
        of entries: LedgerBatch, claiming claim: UploadClaim?, known: [SubscriptionKey: PurchaseInBatch],
        durations: ProductDurations, claims stored: [AccountClaim], moves: [PurchaseMove],
        given: [EntitlementStore.Line], in app: CoverageStore.App, rule: SharingStore.Rule, chosen: Set<String>,
        isAccountErased: Bool, at now: Date
    ) throws {
        self.isAccountErased = isAccountErased
        self.given = given
        let additions = entries.additions(recorded: [])
        let states = try entries.effects(
            of: additions, known: known, durations: durations, neighbours: [], at: now
        ).purchases
        let named = Set(entries.entries.compactMap { $0.event?.key })
        purchases = states.reduce(into: [:]) { purchases, one in
            guard let subscription = one.value.subscription else { return }
            purchases[one.key] = Purchase(
                subscription: subscription, transactions: one.value.versions,
                periods: one.value.periods.map { AccessStore.Period($0, until: one.value.periods.until(of: $0)) }
                    .sorted { $0.startsAt < $1.startsAt },
                revision: one.value.revision, isNamed: named.contains(one.key))
        }
        let ofApp = purchases.values.lazy.filter { $0.subscription.bundleId == app.bundleId }
        let others = (stored + additions.claims).filter { $0.bundleId == app.bundleId }
        let owned = Array(ofApp.map { OwnedPurchase($0.subscription, $0.transactions) })
        let before = AppleAccount.all(in: others, purchases: owned, moves: moves)
        let made = Array(ofApp.filter(\.isNamed)).compactMap { claim?.made(on: $0) }.filter { made in
            made.evidence != .old
                || !before.contains { $0.keys.contains(made.key) && $0.concernsOthers(than: made.appAccountToken) }
        }
        claims = made
        let all = others + made
        claimants = all.reduce(into: [:]) { $0[$1.key, default: []].insert($1.appAccountToken) }
        transfers = ofApp.filter(\.isNamed).compactMap { purchase in
            claim?.restore(of: purchase, before, moves: moves, rule: rule, chosen: chosen)
        }
        let accepted = transfers.filter { $0.outcome == .accepted }.map { $0.move(at: now) }
        accounts =
            made.isEmpty && accepted.isEmpty
            ? before : AppleAccount.all(in: all, purchases: owned, moves: moves + accepted)
        bundleId = app.bundleId
        policy = rule.policy
        self.chosen = chosen
    }
}

/// An upload of purchases by an account of the app, which claims them.
public struct UploadClaim: Sendable {
    /// The account of the app.
    public var appAccountToken: UUID
    /// The time of the upload.
    public var uploadedAt: Date
    /// Whether it also claims purchases whose payloads name another account, as a restore does.
    public var includesOwned: Bool
    /// Of the purchases that it claims, by original transaction id; the others it does not claim.
    public var evidence: [String: ClaimEvidence]

    /// - Parameters:
    ///   - includesOwned: whether it also claims purchases whose payloads name another account.
    ///   - evidence: of the purchases, by original transaction id.
    public init(appAccountToken: UUID, uploadedAt: Date, includesOwned: Bool, evidence: [String: ClaimEvidence]) {
        self.appAccountToken = appAccountToken
        self.uploadedAt = uploadedAt
        self.includesOwned = includesOwned
        self.evidence = evidence
    }

    fileprivate func made(on purchase: StatePreview.Purchase) -> AccountClaim? {
        let subscription = purchase.subscription
        guard let evidence = evidence[subscription.key.originalTransactionId],
            includesOwned || subscription.appAccountToken == nil
        else { return nil }
        return AccountClaim(
            key: subscription.key, bundleId: subscription.bundleId,
            appTransactionId: subscription.transaction?.appTransactionId,
            appAccountToken: appAccountToken.lowercasedText, evidence: evidence, since: uploadedAt)
    }

    /// Nil where the upload is no restore, or nothing would move.
    fileprivate func restore(
        of purchase: StatePreview.Purchase, _ accounts: [AppleAccount], moves: [PurchaseMove],
        rule: SharingStore.Rule, chosen: Set<String>
    ) -> TransferStore.Transfer? {
        let (subscription, key) = (purchase.subscription, purchase.subscription.key)
        guard includesOwned, let account = accounts.first(where: { $0.keys.contains(key) }) else { return nil }
        let holders = account.entitledTokens(to: key, rule.policy, chosen: chosen)
        let evidence = evidence[key.originalTransactionId]
        let buyer = subscription.appAccountToken
        let restore = Restore(
            account: appAccountToken.lowercasedText, evidence: evidence, holders: holders, buyer: buyer,
            isChosenByOperator: account.isChosen(for: key, chosen),
            isLapsed: !purchase.periods.contains { $0.contains(uploadedAt) }
                && subscription.state(at: uploadedAt, in: purchase.periods) != .billingRetry,
            countedMoves: moves.count(of: key, before: uploadedAt))
        guard let outcome = restore.outcome(rule.policy, needsDevice: rule.needsDevice), let holder = holders.first
        else { return nil }
        return TransferStore.Transfer(
            key: key, bundleId: subscription.bundleId, from: holder, to: restore.account, evidence: evidence,
            policy: rule.policy, outcome: outcome, isCounted: restore.account != buyer)
    }
}

/// Computes previews from events and the stored state.
public struct StatePreviewStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection, which needs no right to write.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// - Parameters:
    ///   - entries: verified entries without a `fault`; those that the ledger holds already change nothing.
    ///   - app: the app and environment of the accounts.
    ///   - account: the account whose access the caller reads; nil for none.
    ///   - claim: the claim of the account that uploads the entries.
    ///   - now: the clock of this process.
    public func preview(
        of entries: [LedgerEntry], in app: CoverageStore.App, account: UUID? = nil, claiming claim: UploadClaim? = nil,
        at now: Date
    ) async throws -> StatePreview {
        let entries = try LedgerBatch(entries)
        return try await connection.transaction(isolation: .repeatableRead) { transaction in
            try Self.read(entries, in: app, account, claiming: claim, at: now, transaction) {
                try transaction.commit(after: $0)
            }
        }
    }

    /// The preview of an upload, with its claims and restores decided and written: one upload after the other for each purchase,
    /// so that as many move as may.
    /// - Parameter actions: the entries of the audit log about the claims.
    package func record(
        _ entries: [LedgerEntry], in app: CoverageStore.App, account: UUID, claiming claim: UploadClaim, at now: Date,
        actions: @escaping @Sendable ([AccountClaim]) -> [OperatorAction]
    ) async throws -> StatePreview {
        let entries = try LedgerBatch(entries)
        return try await repeating {
            try await connection.transaction { transaction in
                // The statements after it see what the upload before this one has committed.
                _ = try transaction.pipeline([Self.command(locking: entries, in: app)])
                let preview = try Self.read(entries, in: app, account, claiming: claim, at: now, transaction) {
                    try transaction.pipeline($0)
                }
                guard !preview.isAccountErased else { return preview }
                let isRefused = preview.transfers.contains { $0.outcome == .tooMany }
                let transfers = isRefused ? preview.transfers.filter { $0.outcome == .tooMany } : preview.transfers
                let claims = isRefused ? [] : preview.claims
                let made = actions(claims)
                var commands: [Command] = []
                if !claims.isEmpty { commands.append(ClaimStatements.command(claiming: claims)) }
                if !transfers.isEmpty { commands.append(TransferStore.command(adding: transfers, at: now)) }
                if !made.isEmpty { commands.append(OperatorActionStore.command(recording: made)) }
                _ = try transaction.pipeline(commands)
                return preview
            }
        }
    }

    /// - Parameter finish: runs the last statements.
    private static func read(
        _ entries: LedgerBatch, in app: CoverageStore.App, _ account: UUID?, claiming claim: UploadClaim?, at now: Date,
        _ transaction: PostgresTransaction, finish: ([Command]) throws -> [Rows]
    ) throws -> StatePreview {
        let asked = account.map {
            ErasedAccounts.Account(environment: app.environment, bundleId: app.bundleId, token: $0)
        }
        var batch = entries
        let first = try transaction.pipeline([
            Self.command(reachedFrom: batch, in: app, account: account),
            SharingStore.command(policyOf: app),
            Command(SharingStore.chosen, app.environment.rawValue, app.bundleId),
            ErasedAccounts.command(among: batch.accounts.union(asked.map { [$0] } ?? [])),
            EntitlementStore.command(
                besidePurchasesOf: account.map { [$0] } ?? [], in: app.environment, bundleIds: [app.bundleId]),
        ])
        let erased = try ErasedAccounts(first[3])
        batch.remove(erased)
        let reached = try first[0].map { row in
            SubscriptionKey(
                environment: app.environment, originalTransactionId: try row.value("original_transaction_id"))
        }
        let keys = Set(reached).union(batch.keys).sorted()
        let ids = keys.map(\.originalTransactionId)
        let second = try finish(
            PurchaseInBatch.commands(reading: keys, isLocking: false) + [
                Command(Self.claims, app.environment.rawValue, app.bundleId, ids),
                TransferStore.command(movesOf: ids, in: app),
            ])
        let (known, durations) = try PurchaseInBatch.read(second[...])
        return try StatePreview(
            of: batch, claiming: claim, known: known, durations: durations,
            claims: try second[5].map { row in try AccountClaim(row, of: app.bundleId, in: app.environment) },
            moves: try TransferStore.moves(second[6]),
            given: try EntitlementStore.lines(first[4]), in: app,
            rule: try SharingStore.rules(first[1])[app] ?? SharingStore.Rule(),
            chosen: try Set(first[2].map { row in try row.value("app_account_token") }),
            isAccountErased: asked.map(erased.contains) ?? false, at: now)
    }

    /// Locks the purchases of an upload and their Apple accounts against other uploads until the transaction ends.
    private static func command(locking batch: LedgerBatch, in app: CoverageStore.App) -> Command {
        let customers = Set(batch.entries.compactMap { $0.event?.transaction?.appTransactionId })
        let names = batch.keys.map { "purchase \($0.originalTransactionId)" } + customers.map { "customer \($0)" }
        return Command(Self.lock, names.sorted().map { "\(app.environment.rawValue) \(app.bundleId) \($0)" })
    }

    /// In one order, so that two uploads of the same purchases do not wait for each other.
    static let lock = Statement(
        "preview-lock",
        """
        select pg_advisory_xact_lock(hashtextextended(name, 0))
        from unnest($1::text[]) with ordinality as given (name, place)
        order by place
        """)

    private static func command(
        reachedFrom batch: LedgerBatch, in app: CoverageStore.App, account: UUID?
    ) -> Command {
        let customers = Set(batch.entries.compactMap { $0.event?.transaction?.appTransactionId }).sorted()
        return Command(
            reached, app.environment.rawValue, app.bundleId, batch.keys.map(\.originalTransactionId), customers, account
        )
    }

    /// All purchases of the Apple accounts of the entries' purchases, and of those that the account uses. Subqueries, and not
    /// joins of the view, for the reason of the function `apple_account`.
    static let reached = Statement(
        "preview-reached",
        """
        with recursive owned (original_transaction_id) as (
            (
                select original_transaction_id
                from unnest($3::text[]) as given (original_transaction_id)
                union
                select original_transaction_id
                from purchase_owner
                where environment = $1::text::store_environment and bundle_id = $2::text
                    and app_transaction_id = any ($4::text[])
                union
                select original_transaction_id
                from account_claim
                where app_account_token = $5::uuid and environment = $1::text::store_environment
                    and bundle_id = $2::text
                union
                select original_transaction_id
                from subscription
                where owner_account_token = $5::uuid and environment = $1::text::store_environment
                    and bundle_id = $2::text
            )
            union
            select other.original_transaction_id
            from owned
            cross join lateral (
                select app_transaction_id
                from purchase_owner
                where environment = $1::text::store_environment and bundle_id = $2::text
                    and original_transaction_id = owned.original_transaction_id
                offset 0
            ) as mine
            cross join lateral (
                select original_transaction_id
                from purchase_owner
                where environment = $1::text::store_environment and bundle_id = $2::text
                    and app_transaction_id = mine.app_transaction_id
                offset 0
            ) as other
        )
        select original_transaction_id from owned
        """)

    static let claims = Statement(
        "preview-claims",
        """
        select original_transaction_id, app_transaction_id, app_account_token::text as app_account_token, since, signed_at,
            evidence::text as evidence
        from account_claim
        where environment = $1::text::store_environment and bundle_id = $2::text
            and original_transaction_id = any ($3::text[])
        """)

    static let statements = [reached, claims, lock]
}

extension UUID {
    /// The spelling in which tokens are compared.
    fileprivate var lowercasedText: String { uuidString.lowercased() }
}
