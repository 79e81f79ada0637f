import Contracts
import Postgres
import Records
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// The promotional offers that were signed. The signature itself is not stored: it is money.
package struct OfferSignatureStore: Sendable {
    /// What is to be signed, for whom, with which key.
    package struct Request: Sendable, Equatable {
        package var app: CoverageStore.App
        /// Nil: any customer, which only an offer without a rule may be for.
        package var account: UUID?
        package var productId: String
        package var offerIdentifier: String
        /// To which the signature is bound.
        package var transactionId: String?
        package var keyId: String

        package init(
            app: CoverageStore.App, account: UUID?, productId: String, offerIdentifier: String, transactionId: String?,
            keyId: String
        ) {
            self.app = app
            self.account = account
            self.productId = productId
            self.offerIdentifier = offerIdentifier
            self.transactionId = transactionId
            self.keyId = keyId
        }

        fileprivate var offer: [any PostgresParameter] {
            [app.environment.rawValue, app.bundleId, account, productId, offerIdentifier]
        }
    }

    /// Whether a signature may be made.
    package enum Outcome: Sendable, Equatable {
        /// It may, with this nonce and at this time; they are those of the same request within the last minute.
        case signed(nonce: UUID, at: Date)
        case refused(OfferRefusal)
        /// The account was erased: nothing is noted about it again.
        case erased
    }

    /// A signature that was made.
    package struct Signature: Sendable, Equatable {
        package var signedAt: Date
        package var account: UUID?
        package var productId: String
        package var offerIdentifier: String
        package var nonce: UUID
        package var keyId: String
        package var transactionId: String?
        /// Nil: signed without a rule.
        package var ruleVersion: Int64?
        /// The first transaction of the account with the offer since, and before the next signature; nil: none is known.
        package var redeemedBy: String?
    }

    /// How long the same request gets the same signature.
    package static let repeatTime = 60.0

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Notes a signature, unless the limit of the rule is reached.
    ///
    /// Requests for the same offer of the same account wait for each other, or many at once would all be within the limit.
    /// - Parameters:
    ///   - rule: with its version; nil: the offer is signed without one.
    ///   - nonce: of a new signature.
    package func sign(
        _ request: Request, by rule: (rule: OfferRule, version: Int64)?, nonce: UUID, at now: Date
    ) async throws -> Outcome {
        // Apple's timestamp has milliseconds: a repeat reads back the same.
        let now = Date(milliseconds: now.milliseconds)
        let version = rule?.version
        let limit = rule?.rule
        let since = now.addingTimeInterval(-max(Self.repeatTime, Double(limit?.atMost.days ?? 0) * 86_400))
        return try await repeating {
            try await connection.transaction { transaction in
                if let account = request.account {
                    let asked = ErasedAccounts.Account(
                        environment: request.app.environment, bundleId: request.app.bundleId, token: account)
                    let lock = [
                        request.app.environment.rawValue, request.app.bundleId, account.uuidString.lowercased(),
                        request.productId, request.offerIdentifier,
                    ].joined(separator: " ")
                    let rows = try transaction.pipeline([
                        ErasedAccounts.command(among: [asked]), Command(Self.lock, lock),
                        Command(Self.since, all: request.offer + [since]),
                    ])
                    guard try ErasedAccounts(rows[0]).isEmpty else { return .erased }
                    let made = try rows[2].map { row in try Made(row) }
                    // Two instances' clocks differ.
                    if let same = made.first(where: {
                        abs(now.timeIntervalSince($0.signedAt)) < Self.repeatTime
                            && $0.transactionId == request.transactionId && $0.keyId == request.keyId
                    }) {
                        return .signed(nonce: same.nonce, at: same.signedAt)
                    }
                    if let refusal = limit?.refusal(after: made.map(\.signedAt), at: now) { return .refused(refusal) }
                } else if rule != nil {
                    return .refused(.noAccount)
                }
                _ = try transaction.pipeline([
                    Command(
                        Self.insert, all: request.offer + [request.transactionId, request.keyId, version, nonce, now])
                ])
                return .signed(nonce: nonce, at: now)
            }
        }
    }

    private struct Made: Sendable {
        var signedAt: Date
        var nonce: UUID
        var transactionId: String?
        var keyId: String

        init(_ row: Row) throws {
            signedAt = try row.value("signed_at")
            nonce = try row.value("nonce")
            transactionId = try row.optional("transaction_id")
            keyId = try row.value("key_id")
        }
    }

    /// When offers of an app were signed for an account.
    package func moments(
        of account: UUID, in app: CoverageStore.App
    ) async throws -> [(productId: String, offerIdentifier: String, signedAt: Date)] {
        try await connection.execute(Self.ofAccount, app.environment.rawValue, app.bundleId, account).map { row in
            (try row.value("product_id"), try row.value("offer_id"), try row.value("signed_at"))
        }
    }

    /// The signatures of an app, the newest first.
    /// - Parameter account: nil is all accounts.
    package func newest(
        _ limit: Int, in app: CoverageStore.App, account: UUID? = nil
    ) async throws -> [Signature] {
        try await connection.execute(
            Self.newest, app.environment.rawValue, app.bundleId, account, Int64(limit)
        ).map { row in
            Signature(
                signedAt: try row.value("signed_at"), account: try row.optional("app_account_token"),
                productId: try row.value("product_id"), offerIdentifier: try row.value("offer_id"),
                nonce: try row.value("nonce"), keyId: try row.value("key_id"),
                transactionId: try row.optional("transaction_id"), ruleVersion: try row.optional("rule_version"),
                redeemedBy: try row.optional("redeemed_by"))
        }
    }

    /// How many signatures of an offer were redeemed.
    package struct Redemptions: Sendable, Equatable {
        package var productId: String
        package var offerIdentifier: String
        package var signed: Int64
        package var redeemed: Int64

        /// `12 %`.
        package var rate: String { "\((redeemed * 100 + signed / 2) / max(signed, 1)) %" }
    }

    /// How many signatures are looked at for their redemption: more would take too long for a page.
    package static let counted = 10_000

    /// By offer, how many of the newest signatures of an app were redeemed.
    package func redemptions(in app: CoverageStore.App) async throws -> [Redemptions] {
        try await connection.execute(
            Self.redemptions, app.environment.rawValue, app.bundleId, nil as UUID?, Int64(Self.counted)
        ).map { row in
            Redemptions(
                productId: try row.value("product_id"), offerIdentifier: try row.value("offer_id"),
                signed: try row.value("signed"), redeemed: try row.value("redeemed"))
        }
    }

    static let statements = [lock, since, insert, ofAccount, newest, redemptions]

    private static let lock = Statement(
        "offer-signature-lock",
        "select pg_advisory_xact_lock(hashtextextended(current_schema() || ' offer ' || $1::text, 0))")

    private static let since = Statement(
        "offer-signature-since",
        """
        select signed_at, nonce, transaction_id, key_id
        from offer_signature
        where environment = $1::text::store_environment and bundle_id = $2::text and app_account_token = $3::uuid
            and product_id = $4::text and offer_id = $5::text and signed_at > $6::timestamptz
        order by signed_at desc, nonce
        """)

    private static let insert = Statement(
        "offer-signature-insert",
        """
        insert into offer_signature (
            environment, bundle_id, app_account_token, product_id, offer_id, transaction_id, key_id, rule_version, nonce,
            signed_at)
        values (
            $1::text::store_environment, $2::text, $3::uuid, $4::text, $5::text, $6::text, $7::text, $8::bigint, $9::uuid,
            $10::timestamptz)
        """)

    private static let ofAccount = Statement(
        "offer-signature-of-account",
        """
        select product_id, offer_id, signed_at
        from offer_signature
        where environment = $1::text::store_environment and bundle_id = $2::text and app_account_token = $3::uuid
        """)

    private static let newest = Statement(
        "offer-signature-newest",
        unsafeSQL: """
            select made.signed_at, made.app_account_token, made.product_id, made.offer_id, made.nonce, made.key_id,
                made.transaction_id, made.rule_version, redeemed.transaction_id as redeemed_by
            from \(made)
            order by made.signed_at desc, made.nonce
            """)

    private static let redemptions = Statement(
        "offer-signature-redemptions",
        unsafeSQL: """
            select made.product_id, made.offer_id, count(*) as signed, count(redeemed.transaction_id) as redeemed
            from \(made)
            group by made.product_id, made.offer_id
            order by made.product_id, made.offer_id
            """)

    /// The newest signatures, each with the transaction that redeemed it. A renewal has the offer, too, while the offer lasts: a purchase
    /// redeems the last signature before it.
    private static let made = """
        (
            select *
            from offer_signature
            where environment = $1::text::store_environment and bundle_id = $2::text
                and ($3::uuid is null or app_account_token = $3::uuid)
            order by signed_at desc, nonce
            limit $4::bigint
        ) as made
        left join lateral (
            select bought.transaction_id
            from purchase_account held
            join transaction bought using (environment, original_transaction_id)
            where held.app_account_token = made.app_account_token and held.environment = made.environment
                and held.bundle_id = made.bundle_id and bought.product_id = made.product_id
                and bought.offer_id = made.offer_id and bought.offer_type = 2 and bought.purchased_at >= made.signed_at
                and not exists (
                    select
                    from offer_signature later
                    where later.app_account_token = made.app_account_token and later.environment = made.environment
                        and later.bundle_id = made.bundle_id and later.product_id = made.product_id
                        and later.offer_id = made.offer_id and later.signed_at > made.signed_at
                        and later.signed_at <= bought.purchased_at)
            order by bought.purchased_at, bought.transaction_id
            limit 1
        ) as redeemed on true
        """
}
