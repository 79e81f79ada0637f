import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// Decides by the rules of an app which offers an account gets.
package struct OfferDecisionStore: Sendable {
    /// An offer with a rule, and why the account does not get it now; nil where it does.
    package struct Offer: Sendable, Equatable {
        package var rule: OfferRule
        package var refusal: OfferRefusal?
    }

    /// The win-back offers of a purchase, as Apple last said.
    package struct WinBack: Sendable, Equatable {
        package var originalTransactionId: String
        package var productId: String?
        /// Apple's `eligibleWinBackOfferIds`, best first.
        package var offerIdentifiers: [String]
        /// When Apple signed the renewal info.
        package var signedAt: Date
    }

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// What the rules allow an account now, and Apple's win-back offers.
    /// - Throws: `OfferRuleFaults` where a newer build set rules that this one does not know.
    package func offers(
        of account: UUID, in app: CoverageStore.App, at now: Date
    ) async throws -> (offers: [Offer], winBacks: [WinBack]) {
        let version = try await OfferRuleStore(connection).inForce(app.bundleId, in: app.environment)
        let preview = try await StatePreviewStore(connection).preview(of: [], in: app, account: account, at: now)
        // It has no purchase, and is no customer who has never paid: nothing would be signed for it.
        guard !preview.isAccountErased else { return ([], []) }
        let customer = try await customer(preview, of: app, at: now)
        let moments = try await OfferSignatureStore(connection).moments(of: account, in: app)
        let offers = try (version?.rules.rules ?? []).map { rule in
            let signed = moments.filter { $0.productId == rule.productId && $0.offerIdentifier == rule.offerIdentifier }
            return Offer(
                rule: rule,
                refusal: rule.refusal(of: customer, at: now) ?? rule.refusal(after: signed.map(\.signedAt), at: now))
        }
        return (offers, preview.winBacks(of: account))
    }

    /// Notes a signature of an offer, if the rule of the offer allows it.
    /// - Parameters:
    ///   - isRuleNeeded: false: an offer without a rule is signed, too.
    ///   - nonce: of a new signature.
    /// - Throws: `OfferRuleFaults` where a newer build set rules that this one does not know.
    package func sign(
        _ request: OfferSignatureStore.Request, isRuleNeeded: Bool, nonce: UUID, at now: Date
    ) async throws -> OfferSignatureStore.Outcome {
        let (app, signatures) = (request.app, OfferSignatureStore(connection))
        let version = try await OfferRuleStore(connection).inForce(app.bundleId, in: app.environment)
        guard let version, let rule = try version.rules.rule(of: request.productId, request.offerIdentifier) else {
            guard isRuleNeeded else { return try await signatures.sign(request, by: nil, nonce: nonce, at: now) }
            return .refused(.noRule(productId: request.productId, offerIdentifier: request.offerIdentifier))
        }
        guard let account = request.account else { return .refused(.noAccount) }
        let preview = try await StatePreviewStore(connection).preview(of: [], in: app, account: account, at: now)
        guard !preview.isAccountErased else { return .erased }
        if let id = request.transactionId, try await isOfOthers(id, than: preview, in: app) {
            return .refused(.otherCustomer(id))
        }
        if let refusal = rule.refusal(of: try await customer(preview, of: app, at: now), at: now) {
            return .refused(refusal)
        }
        return try await signatures.sign(request, by: (rule, version.number), nonce: nonce, at: now)
    }

    /// The customer, with the refunds of some seats or items: their transactions stand and have no `revocationDate`, so that the
    /// notification alone says when. Without one, as of customers who were imported, they count from the purchase on, the earliest that
    /// they can be of.
    private func customer(
        _ preview: StatePreview, of app: CoverageStore.App, at now: Date
    ) async throws -> OfferCustomer {
        var customer = preview.offerCustomer(of: app.bundleId, at: now)
        let refunded = preview.transactionsRefundedInPart(of: app.bundleId)
        guard !refunded.isEmpty else { return customer }
        let rows = try await connection.execute(
            Self.refunds, app.environment.rawValue, refunded.map(\.purchase), refunded.map(\.facts.transactionId))
        var told: Set<String> = []
        for row in rows {
            told.insert(try row.value("transaction_id"))
            if try row.value("is_refund") { customer.refunds.append(try row.value("signed_at")) }
        }
        customer.refunds += refunded.map(\.facts).filter { !told.contains($0.transactionId) }.compactMap { facts in
            facts.purchaseDate.map { min($0, facts.signedDate) }
        }
        return customer
    }

    /// An introductory offer that a customer has had in a subscription group.
    package struct IntroductoryUse: Sendable, Equatable {
        /// The first transaction with it; nil: none is known.
        package var transactionId: String?
        /// Whether any purchase of the account is known.
        package var isKnown: Bool
    }

    /// Looks at all purchases of the account and of its Apple accounts, and at those of the customer to whom the answer
    /// is bound: a new account of the app is no new customer.
    /// - Parameter transactionId: of that customer, or the appTransactionId; nil: the account alone decides.
    /// - Returns: nil for an account that was erased.
    package func introductoryUse(
        of group: String, by account: UUID, transactionId: String?, in app: CoverageStore.App, at now: Date
    ) async throws -> IntroductoryUse? {
        let preview = try await StatePreviewStore(connection).preview(of: [], in: app, account: account, at: now)
        guard !preview.isAccountErased else { return nil }
        var purchases = Set(preview.purchases.keys.map(\.originalTransactionId))
        if let transactionId { purchases.formUnion(try await self.purchases(of: transactionId, in: app)) }
        let used = try await connection.execute(Self.introductory, app.environment.rawValue, Array(purchases), group)
        return IntroductoryUse(
            transactionId: try used.first?.value("transaction_id"), isKnown: !preview.purchases.isEmpty)
    }

    static let statements = [refunds, introductory]

    /// One look-up by index for each purchase, see ``PurchaseKeys``.
    private static let introductory = Statement(
        "offer-decision-introductory",
        """
        select transaction_id
        from unnest($2::text[]) as given (given_id)
        cross join lateral (
            select transaction_id, signed_at
            from transaction
            where environment = $1::text::store_environment and original_transaction_id = given_id
                and subscription_group_id = $3::text and offer_type = 1
            offset 0
        ) as used
        order by signed_at, transaction_id
        limit 1
        """)

    /// Of each transaction whether it was refunded last, or Apple took that back. A request that was declined later takes back nothing.
    private static let refunds = Statement(
        "offer-decision-refunds",
        """
        select asked.transaction_id, told.notification_type = 'REFUND' as is_refund, told.signed_at
        from unnest($2::text[], $3::text[]) as asked (original_transaction_id, transaction_id)
        cross join lateral (
            select notification_type, signed_at
            from notification
            where environment = $1::text::store_environment
                and notification.original_transaction_id = asked.original_transaction_id
                and notification.transaction_id = asked.transaction_id
                and notification_type in ('REFUND', 'REFUND_REVERSED') and signed_at is not null
            order by signed_at desc, notification_uuid desc
            limit 1
        ) as told
        """)

    /// Whether a transaction or appTransactionId is of purchases beside those that decide: a new account must not get an offer for
    /// the customer of an old one.
    private func isOfOthers(_ id: String, than preview: StatePreview, in app: CoverageStore.App) async throws -> Bool {
        try await purchases(of: id, in: app).contains { purchase in
            preview.purchases[SubscriptionKey(environment: app.environment, originalTransactionId: purchase)] == nil
        }
    }

    /// The purchases of the customer of a transaction or appTransactionId.
    private func purchases(of id: String, in app: CoverageStore.App) async throws -> [String] {
        let originals = try await TransactionStore(connection).originals(
            of: [id], bundleId: app.bundleId, in: app.environment)
        let named = OwnershipChange(Array(originals.values), customers: [id], of: app)
        return try await connection.transaction { transaction in
            try OwnershipStore.purchases(
                transaction.pipeline([OwnershipStore.command(reachedFrom: named, account: nil)])[0])
        }.map(\.id)
    }
}

extension StatePreview {
    /// The customer by all purchases of the account and of its Apple accounts: a second account of the app is no new customer.
    func offerCustomer(of bundleId: String, at now: Date) -> OfferCustomer {
        var customer = OfferCustomer()
        for purchase in purchases.values where purchase.subscription.bundleId == bundleId {
            let bought = purchase.transactions.map(\.facts).filter { !$0.isPaidElsewhere }
            customer.hasPaid = customer.hasPaid || bought.contains(where: \.isPayment)
            customer.refunds += bought.compactMap(\.revocationDate)
            guard let facts = purchase.subscription.transaction, facts.kind == .autoRenewable, !facts.isPaidElsewhere,
                let standing = purchase.standing(facts, at: now)
            else { continue }
            customer.subscriptions.append(.init(group: facts.subscriptionGroupIdentifier, standing: standing))
        }
        return customer
    }

    /// The transactions of which seats or items of Advanced Commerce were refunded, and not all.
    func transactionsRefundedInPart(of bundleId: String) -> [(purchase: String, facts: TransactionFacts)] {
        var refunded: [(purchase: String, facts: TransactionFacts)] = []
        for (key, purchase) in purchases where purchase.subscription.bundleId == bundleId {
            for facts in purchase.transactions.map(\.facts) where facts.hasRefundOfPart && !facts.isPaidElsewhere {
                refunded.append((key.originalTransactionId, facts))
            }
        }
        return refunded
    }

    /// Of the purchases that the account may use.
    func winBacks(of account: UUID) -> [OfferDecisionStore.WinBack] {
        usable(by: account).compactMap { key in
            guard let subscription = purchases[key]?.subscription,
                let renewal = subscription.renewal, let offers = renewal.eligibleWinBackOfferIds
            else { return nil }
            return OfferDecisionStore.WinBack(
                originalTransactionId: key.originalTransactionId,
                productId: renewal.productId ?? subscription.transaction?.productId, offerIdentifiers: offers,
                signedAt: renewal.signedDate)
        }.sorted { $0.originalTransactionId < $1.originalTransactionId }
    }
}

extension StatePreview.Purchase {
    /// Nil: another purchase replaced it, and says how the customer is.
    fileprivate func standing(_ facts: TransactionFacts, at now: Date) -> OfferCustomer.Standing? {
        let period = periods.first { $0.contains(now) }
        let state = subscription.state(at: now, access: period.flatMap { AccessPeriod.Reason(rawValue: $0.reason) })
        switch state {
        case .active, .gracePeriod: return .active(renews: subscription.renewal?.autoRenewStatus != false)
        case .expired, .revoked:
            // A grace period counts, and the newest transaction may be a refunded renewal that never began, or refunded seats.
            let ended = periods.compactMap(\.endsAt).filter { $0 <= now }.max()
            return (ended ?? facts.revocationDate ?? facts.expiresDate).map { .ended(at: $0) } ?? .undecided
        case .upgraded: return nil
        case .billingRetry, .overdue, .notBegun, .owned, .consumed, .unknown: return .undecided
        }
    }
}

extension TransactionFacts {
    /// Whether seats or items of it were refunded, and it stands.
    fileprivate var hasRefundOfPart: Bool {
        revocationDate == nil && ((revokedSeatQuantity ?? 0) > 0 || (revocationPercentage ?? 0) > 0)
    }

    /// Whether the customer paid. Older payloads have no price: then all but an introductory offer was paid for.
    fileprivate var isPayment: Bool {
        priceMilliunits.map { $0 > 0 } ?? (offerDiscountType != "FREE_TRIAL" && offerType != 1)
    }
}
