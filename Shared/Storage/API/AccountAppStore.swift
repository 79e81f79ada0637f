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
    /// The stored fields of one app transaction.
    package struct AccountApp: Sendable, Equatable {
        package var environment: StoreEnvironment
        package var bundleId: String
        package var appAccountToken: UUID
        /// Apple's id of the customer within the app; a digest of what never changes in it where an old system sends none.
        package var identity: String
        package var evidence: ClaimEvidence
        package var originalApplicationVersion: String
        package var originalPurchaseDate: Date?
        package var recordedAt: Date

        package init(
            environment: StoreEnvironment, bundleId: String, appAccountToken: UUID, identity: String,
            evidence: ClaimEvidence, originalApplicationVersion: String, originalPurchaseDate: Date?, recordedAt: Date
        ) {
            self.environment = environment
            self.bundleId = bundleId
            self.appAccountToken = appAccountToken
            self.identity = identity
            self.evidence = evidence
            self.originalApplicationVersion = originalApplicationVersion
            self.originalPurchaseDate = originalPurchaseDate
            self.recordedAt = recordedAt
        }

        /// In place of a purchase.
        fileprivate var key: SubscriptionKey {
            SubscriptionKey(environment: environment, originalTransactionId: TransferStore.appPrefix + identity)
        }

        fileprivate func claim(of account: UUID, _ evidence: ClaimEvidence, since: Date) -> AccountClaim {
            AccountClaim(
                key: key, bundleId: bundleId, appTransactionId: nil, appAccountToken: account.uuidString.lowercased(),
                evidence: evidence, since: since)
        }
    }

    private let connection: PostgresConnection

    /// All statements run on this connection.
    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Stores an app transaction for an account, and decides which of the accounts that uploaded it may use it. One upload after
    /// the other, so that as many accounts get it as the policy allows.
    /// - Parameter isRestore: whether the customer asked for it, which moves it where the policy of the app says so.
    package func add(_ app: AccountApp, isRestore: Bool) async throws {
        let scope = CoverageStore.App(app.environment, app.bundleId)
        try await repeating {
            try await connection.transaction { transaction in
                let lock = "\(app.environment.rawValue) \(app.bundleId) app \(app.identity)"
                _ = try transaction.pipeline([Command(StatePreviewStore.lock, [lock])])
                let read = try transaction.pipeline([
                    Command(Self.claims, app.environment.rawValue, app.bundleId, app.identity),
                    SharingStore.command(policyOf: scope),
                    Command(SharingStore.chosen, app.environment.rawValue, app.bundleId),
                    TransferStore.command(movesOf: [app.key.originalTransactionId], in: scope),
                ])
                let claims = try read[0].map { row in
                    app.claim(
                        of: try row.value("app_account_token"),
                        ClaimEvidence(rawValue: try row.value("evidence")) ?? .old, since: try row.value("recorded_at"))
                }
                let rule = try SharingStore.rules(read[1])[scope] ?? SharingStore.Rule()
                let chosen = try Set(read[2].map { row in try row.value("app_account_token", as: String.self) })
                let moves = try TransferStore.moves(read[3])
                // Claims of one moment count in the order in which they came.
                let last = claims.map(\.since).max() ?? .distantPast
                let since = max(app.recordedAt, last.addingTimeInterval(0.001))
                let made = app.claim(of: app.appAccountToken, app.evidence, since: since)
                let others = claims.contains { $0.appAccountToken != made.appAccountToken }
                if made.evidence == .old, others { return }
                let before = AppleAccount.all(in: claims, moves: moves).first
                let transfer =
                    isRestore
                    ? before.flatMap { Self.transfer(made, $0, moves: moves, rule: rule, chosen: chosen) } : nil
                let accepted = transfer.flatMap { $0.outcome == .accepted ? $0.move(at: app.recordedAt) : nil }
                let after = AppleAccount.all(in: claims + [made], moves: moves + [accepted].compactMap(\.self)).first
                let entitled = after?.entitledTokens(to: app.key, rule.policy, chosen: chosen) ?? []
                _ = try transaction.pipeline(
                    [
                        Command(
                            Self.insert, app.environment.rawValue, app.bundleId, app.appAccountToken, app.identity,
                            app.originalApplicationVersion, app.originalPurchaseDate, since,
                            app.evidence.rawValue),
                        Command(
                            Self.entitle, app.environment.rawValue, app.bundleId, app.identity,
                            entitled.compactMap { UUID(uuidString: $0) }),
                    ] + (transfer.map { [TransferStore.command(adding: [$0], at: app.recordedAt)] } ?? []))
            }
        }
    }

    private static func transfer(
        _ made: AccountClaim, _ account: AppleAccount, moves: [PurchaseMove], rule: SharingStore.Rule,
        chosen: Set<String>
    ) -> TransferStore.Transfer? {
        let holders = account.entitledTokens(to: made.key, rule.policy, chosen: chosen)
        let restore = Restore(
            account: made.appAccountToken, evidence: made.evidence, holders: holders, buyer: nil,
            isChosenByOperator: account.isChosen(for: made.key, chosen), isLapsed: false,
            countedMoves: moves.count(of: made.key, before: made.since))
        guard let outcome = restore.outcome(rule.policy, needsDevice: rule.needsDevice), let holder = holders.first
        else { return nil }
        return TransferStore.Transfer(
            key: made.key, bundleId: made.bundleId, from: holder, to: made.appAccountToken, evidence: made.evidence,
            policy: rule.policy, outcome: outcome, isCounted: true)
    }

    static let statements = [claims, insert, entitle]

    private static let claims = Statement(
        "account-app-claims",
        """
        select app_account_token, evidence::text as evidence, recorded_at
        from account_app
        where environment = $1::text::store_environment and bundle_id = $2::text and identity = $3::text
        """)

    private static let insert = Statement(
        "account-app-insert",
        """
        insert into account_app as held (
            environment, bundle_id, app_account_token, identity, original_application_version, original_purchased_at,
            recorded_at, evidence)
        values (
            $1::text::store_environment, $2::text, $3::uuid, $4::text, $5::text, $6::timestamptz, $7::timestamptz,
            $8::text::claim_evidence)
        on conflict (app_account_token, environment, bundle_id, identity) do update
        set evidence = least(held.evidence, excluded.evidence)
        where held.evidence > excluded.evidence
        """)

    private static let entitle = Statement(
        "account-app-entitle",
        """
        update account_app
        set is_entitled = app_account_token = any ($4::uuid[])
        where environment = $1::text::store_environment and bundle_id = $2::text and identity = $3::text
            and is_entitled <> (app_account_token = any ($4::uuid[]))
        """)
}
