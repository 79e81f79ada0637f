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
    /// The claims of the uploading account that are not stored. The pipeline does not write them.
    public let claims: [AccountClaim]
    /// The purchases that the uploading account restores from others, moved or not.
    package let transfers: [TransferStore.Transfer]
    /// The purchases that the uploading account does not claim, because as many other accounts as may claim their Apple account have
    /// evidence that is as strong.
    package let overclaimed: Set<SubscriptionKey>
    /// Whether the account of the preview was erased: it gets no claims again.
    public let isAccountErased: Bool

    /// What the account has beside purchases, as it is stored: by hand, or by the version of the app. A dry run of an
    /// app transaction puts here what it would give.
    package var given: [EntitlementStore.Line]

    private let accounts: [AppleAccount]
    /// The rows of `purchase_account` after the events and the claims.
    private let decided: [PurchaseAccount]

    /// The purchases that an account may use when they give access.
    package func usable(by token: UUID) -> [SubscriptionKey] {
        let token = token.lowercasedText
        return decided.filter { $0.mayUse && $0.appAccountToken == token }.map(\.key)
    }

    /// The purchases that the events name.
    package var named: Set<SubscriptionKey> { Set(purchases.filter { $0.value.isNamed }.keys) }

    /// The purchases that the uploading account does not get because they have moved too often.
    package let refused: Set<SubscriptionKey>

    /// Whether Apple names an account as the purchase's.
    package func isOwner(_ token: UUID, of key: SubscriptionKey) -> Bool {
        purchases[key]?.subscription.appAccountToken == token.lowercasedText
    }

    /// Whether another account owns or claims a purchase, or another one of its Apple account.
    package func isTaken(_ key: SubscriptionKey, from token: UUID) -> Bool {
        accounts.contains { $0.keys.contains(key) && $0.concernsOthers(than: token.lowercasedText) }
    }

    /// The purchases that an account owns or claims, or may use, each with the rule that decided.
    package func reasons(of token: UUID) -> [SubscriptionKey: PurchaseAccount.Reason] {
        let token = token.lowercasedText
        return decided.reduce(into: [:]) { reasons, one in
            if one.appAccountToken == token { reasons[one.key] = one.because }
        }
    }

    init(
        of entries: LedgerBatch, claiming claim: UploadClaim?, known: [SubscriptionKey: PurchaseInBatch],
        durations: ProductDurations, stored: OwnershipInputs, decided outcomes: [SubscriptionKey: Restore.Outcome],
        given: [EntitlementStore.Line], in app: CoverageStore.App, isAccountErased: Bool, at now: Date
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
        var inputs = stored
        inputs.claims += additions.claims.filter { $0.bundleId == app.bundleId }
        inputs.purchases = ofApp.map { OwnedPurchase($0.subscription, $0.transactions) }
        let before = inputs.accounts
        // Earlier decisions of the same request stand.
        let restored = Array(ofApp.filter { $0.isNamed && outcomes[$0.subscription.key] == nil }).compactMap {
            purchase in claim?.restore(of: purchase, before, inputs)
        }
        // A purchase that has moved too often is not claimed either; it does not hold up the others of the upload.
        let refused = Set(restored.filter { $0.outcome == .tooMany }.map(\.key))
            .union(outcomes.filter { $0.value == .tooMany }.keys)
        self.refused = refused
        // The newest upload of each Apple account, by its purchases.
        let latest = before.reduce(into: [SubscriptionKey: Date]()) { latest, account in
            let keys = Set(account.keys)
            let last = stored.claims.filter { $0.evidence != .apple && keys.contains($0.key) }.map(\.since).max()
            for key in keys { latest[key] = last }
        }
        let moving = Set(restored.filter { $0.outcome == .accepted }.map(\.key))
        let possible = Array(ofApp.filter(\.isNamed)).compactMap { purchase in
            claim?.made(on: purchase, after: latest[purchase.subscription.key])
        }.filter { made in
            guard !refused.contains(made.key) else { return false }
            return made.evidence != .old
                || !before.contains { $0.keys.contains(made.key) && $0.concernsOthers(than: made.appAccountToken) }
        }
        // The strongest claim decides for all purchases of an Apple account, so that the same upload once more claims no others.
        let overclaimed = before.reduce(into: Set<SubscriptionKey>()) { overclaimed, account in
            let keys = Set(account.keys)
            let claimed = possible.filter { keys.contains($0.key) }
            guard let strongest = claimed.min(by: { $0.evidence < $1.evidence }), moving.isDisjoint(with: keys),
                !account.admits(strongest, most: stored.rule.mostAccounts, chosen: stored.chosen)
            else { return }
            overclaimed.formUnion(claimed.map(\.key))
        }
        let made = possible.filter { !overclaimed.contains($0.key) }
        self.overclaimed = overclaimed
        // Apps send again what they have sent before: that needs no locks and writes nothing.
        claims = made.filter { claim in !stored.claims.contains { $0.includes(claim) } }
        inputs.claims += made
        transfers = restored
        inputs.moves += transfers.filter { $0.outcome == .accepted }.map { $0.move(at: now) }
        accounts = inputs.accounts
        decided = inputs.decided()
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
    /// - Parameter actions: the entries of the audit log about the purchases that the account claims, or that move to it.
    package func record(
        _ entries: [LedgerEntry], in app: CoverageStore.App, account: UUID, claiming claim: UploadClaim, at now: Date,
        actions: @escaping @Sendable ([SubscriptionKey]) -> [OperatorAction]
    ) async throws -> StatePreview {
        let entries = try LedgerBatch(entries)
        return try await repeating {
            try await connection.transaction { transaction in
                // The statements after the locks see what the upload before this one has committed. Every
                // transaction that needs both reads the erased accounts before the locks.
                try transaction.send([ErasedAccounts.command(among: [])])
                try OwnershipStore.lock(entries.ownership(in: app), in: transaction)
                let preview = try Self.read(entries, in: app, account, claiming: claim, at: now, transaction) {
                    try transaction.pipeline($0)
                }
                guard !preview.isAccountErased else { return preview }
                let (claims, transfers) = (preview.claims, preview.transfers)
                let moved = transfers.filter { $0.outcome == .accepted }
                let made = actions(Set(claims.map(\.key) + moved.map(\.key)).sorted())
                var commands: [Command] = []
                if !claims.isEmpty { commands.append(ClaimStatements.command(claiming: claims)) }
                if !transfers.isEmpty {
                    commands.append(TransferStore.command(adding: transfers, at: now, by: claim.request))
                }
                if !made.isEmpty { commands.append(OperatorActionStore.command(recording: made)) }
                _ = try transaction.pipeline(commands)
                let changed =
                    claims.map { (key: $0.key, bundleId: $0.bundleId) }
                    + moved.map { (key: $0.key, bundleId: $0.bundleId) }
                try OwnershipStore.decide(OwnershipChange(changed), at: now, in: transaction)
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
        guard account != nil || claim != nil else {
            // An app without accounts: the answer is about the purchases of the entries alone.
            let rows = try finish(
                [ErasedAccounts.command(among: batch.accounts, of: batch.keys)]
                    + PurchaseInBatch.commands(reading: batch.keys.sorted(), isLocking: false))
            batch.remove(try ErasedAccounts(rows[0]))
            let (known, durations) = try PurchaseInBatch.read(rows[1...])
            return try StatePreview(
                of: batch, claiming: nil, known: known, durations: durations, stored: OwnershipInputs(), decided: [:],
                given: [], in: app, isAccountErased: false, at: now)
        }
        // What the account claims is its own before the pipeline applies the events.
        let unclaimed = batch.keys.filter { claim?.evidence[$0.originalTransactionId] == nil }
        // The erased accounts first: a migration locks them before all else.
        let commands =
            [
                ErasedAccounts.command(among: batch.accounts.union(asked.map { [$0] } ?? []), of: unclaimed),
                OwnershipStore.command(reachedFrom: batch.ownership(in: app), account: account.map { ($0, app) }),
                SharingStore.command(policyOf: app),
                Command(SharingStore.chosen, app.environment.rawValue, app.bundleId),
                EntitlementStore.command(
                    besidePurchasesOf: account.map { [$0] } ?? [], in: app.environment, bundleIds: [app.bundleId]),
            ] + (claim?.request.map { [TransferStore.command(decidedBy: $0, in: app)] } ?? [])
        // Without what was sent before.
        let first = Array(try transaction.pipeline(commands).suffix(commands.count))
        let erased = try ErasedAccounts(first[0])
        batch.remove(erased)
        let reached = try OwnershipStore.purchases(first[1])
        let keys = Set(
            reached.map { SubscriptionKey(environment: app.environment, originalTransactionId: $0.id) }
        ).union(batch.keys).sorted()
        let second = try finish(
            PurchaseInBatch.commands(reading: keys, isLocking: false)
                + OwnershipInputs.commands(readingClaimsOn: reached))
        let (known, durations) = try PurchaseInBatch.read(second[...])
        var inputs = try OwnershipInputs.read(second[5...], claimedIn: app)
        inputs.rule = try SharingStore.rules(first[2])[app] ?? SharingStore.Rule()
        // An event may name a chosen account that no stored purchase names.
        inputs.chosen = try Set(first[3].map { row in try row.value("app_account_token") })
        return try StatePreview(
            of: batch, claiming: claim, known: known, durations: durations, stored: inputs,
            decided: try first.count > 5 ? TransferStore.outcomes(first[5]) : [:],
            given: try EntitlementStore.lines(first[4]), in: app,
            isAccountErased: asked.map(erased.contains) ?? false, at: now)
    }
}

extension LedgerBatch {
    /// The purchases and customers that the entries name.
    fileprivate func ownership(in app: CoverageStore.App) -> OwnershipChange {
        OwnershipChange(
            keys.map(\.originalTransactionId),
            customers: Set(entries.compactMap { $0.event?.transaction?.appTransactionId }), of: app)
    }
}
