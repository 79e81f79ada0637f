import Storage
import Subscriptions

import struct Foundation.Date
import struct Foundation.TimeInterval
import struct Foundation.UUID

/// One entitlement of a customer on both sides, at a moment. Pure.
struct EntitlementComparison: Sendable {
    typealias Line = EntitlementStore.Line
    typealias Ours = ComparedAccess<Line>
    typealias Others = ComparedAccess<IncumbentRecord>

    /// Why the sides differ.
    struct Finding: Sendable, Equatable {
        var cause: ComparisonCause
        var purchase: String?
        var notification: UUID?

        init(_ cause: ComparisonCause, purchase: String? = nil, _ notification: UUID? = nil) {
            self.cause = cause
            self.purchase = purchase
            self.notification = notification
        }
    }

    /// The facts that are known beside both sides.
    struct Facts: Sendable {
        /// The purchases of the app, by their ids.
        var purchases: [String: ComparedPurchase] = [:]
        /// Purchases that Apple does not have.
        var unknownToApple: Set<String> = []
        /// All records of the customer.
        var records: [IncumbentRecord] = []
        /// True for a purchase that the file names, for any customer.
        var isNamed: @Sendable (String) -> Bool = { _ in false }
        /// The entitlements that a product gives.
        var names: @Sendable (String) -> [String] = { [$0] }
    }

    let entitlement: String
    let moment: Date
    /// The access on each side, by all that gives it.
    let ours: Ours?
    let others: Others?
    /// The finding that needs no further facts; nil where ``cause(_:)`` has to decide.
    let early: Finding?
    /// Without what only one side can know: other stores, the sandbox, and grants.
    private let ourPurchases: Ours?
    private let otherPurchases: Others?

    /// Moments that are so near to each other are a cause of their own.
    static let tolerance: TimeInterval = 300

    /// - Parameters:
    ///   - ours: also those that ended some minutes ago.
    ///   - others: of the same entitlement.
    init(_ entitlement: String, at moment: Date, ours: [ComparedSpan<Line>], others: [ComparedSpan<IncumbentRecord>]) {
        self.entitlement = entitlement
        self.moment = moment
        self.ours = Ours(at: moment, ours)
        self.others = Others(at: moment, others)
        guard !Operations.isSame(self.ours, self.others) else {
            (early, ourPurchases, otherPurchases) = (nil, nil, nil)
            return
        }
        var (ourRest, otherRest) = (ours, others)
        var found: Finding?
        let reductions: [(ComparisonCause, (Line) -> Bool, (IncumbentRecord) -> Bool)] = [
            (.otherStore, { _ in true }, { $0.store != .other }), (.sandbox, { _ in true }, { !$0.isSandbox }),
            (.grantByHand, { $0.source == .access }, { $0.store != .byHand }),
        ]
        for (cause, keepsOurs, keepsOthers) in reductions where found == nil {
            let (lines, records) = (
                ourRest.filter { keepsOurs($0.source) }, otherRest.filter { keepsOthers($0.source) }
            )
            guard lines.count < ourRest.count || records.count < otherRest.count else { continue }
            (ourRest, otherRest) = (lines, records)
            if Operations.isSame(Ours(at: moment, ourRest), Others(at: moment, otherRest)) { found = Finding(cause) }
        }
        let (ourAccess, otherAccess) = (Ours(at: moment, ourRest), Others(at: moment, otherRest))
        (ourPurchases, otherPurchases) = (ourAccess, otherAccess)
        if found == nil, Self.endsWithinMinutes(ourAccess, otherAccess, ourRest, otherRest, at: moment) {
            let line = ourRest.max { $0.endsAt ?? .distantFuture < $1.endsAt ?? .distantFuture }?.source
            found = Finding(
                .endWithinFiveMinutes, purchase: line?.id ?? otherAccess?.last.source.purchase, line?.notificationUUID)
        }
        early = found
    }

    var isSame: Bool { Operations.isSame(ours, others) }

    /// The purchases whose facts decide.
    var purchases: [String] {
        [
            ourPurchases?.now.source.id, ourPurchases?.last.source.id, otherPurchases?.now.source.purchase,
            otherPurchases?.last.source.purchase,
        ].compactMap(\.self)
    }

    private static func endsWithinMinutes(
        _ ours: Ours?, _ others: Others?, _ lines: [ComparedSpan<Line>], _ records: [ComparedSpan<IncumbentRecord>],
        at moment: Date
    ) -> Bool {
        func isNear(_ ends: [Date], _ ended: [Date?]) -> Bool {
            guard let end = ended.compactMap(\.self).filter({ $0 <= moment }).max() else { return false }
            return ends.contains { abs($0.timeIntervalSince(end)) <= tolerance }
        }
        return switch (ours, others) {
        case (let ours?, let others?): Operations.isSame(ours, others, within: tolerance)
        case (let ours?, nil): isNear(ours.ends, records.map(\.endsAt))
        case (nil, let others?): isNear(others.ends, lines.map(\.endsAt))
        case (nil, nil): false
        }
    }
}

extension EntitlementComparison {
    /// Why the sides differ, by what is known of the purchases.
    func cause(_ facts: Facts) -> Finding {
        if let early { return early }
        return switch (ourPurchases, otherPurchases) {
        case (nil, let others?): causeOfOthers(others, facts)
        case (let ours?, nil): causeOfOurs(ours, facts)
        case (let ours?, let others?): causeOfEnds(ours, others, facts)
        case (nil, nil): Finding(.unexplained)
        }
    }

    /// The other system gives access, and there is none here.
    private func causeOfOthers(_ others: Others, _ facts: Facts) -> Finding {
        let record = others.now.source
        guard let id = record.purchase else { return Finding(.unexplained) }
        guard let known = facts.purchases[id] else {
            return Finding(facts.unknownToApple.contains(id) ? .unknownToApple : .unexplained, purchase: id)
        }
        func finding(_ cause: ComparisonCause, _ notification: UUID?) -> Finding {
            Finding(cause, purchase: id, notification ?? known.notificationUUID)
        }
        guard !known.products.contains(where: { facts.names($0).contains(entitlement) }) else {
            return finding(known.holders.isEmpty ? .unexplained : .otherOwner, known.transactionNotification)
        }
        let paid = known.transaction(of: record)
        if let paid, let cause = paid.revocation { return finding(cause, paid.notificationUUID) }
        // Both sides have the product, and it gives the entitlement there alone: the definitions differ.
        if let product = record.product, known.products.contains(product) {
            return finding(.unexplained, known.transactionNotification)
        }
        if record.isShared || known.isShared { return finding(.familySharing, known.transactionNotification) }
        if paid?.isUpgraded == true || (!known.products.isEmpty && known.isChanged(from: record.product)) {
            return finding(.upgrade, known.transactionNotification)
        }
        if let grace = record.graceEndsAt, grace > moment { return finding(.gracePeriod, known.statusNotification) }
        if known.isInBillingRetry || known.status == 3 { return finding(.billingRetry, known.statusNotification) }
        if known.isNonRenewing { return finding(.nonRenewingDuration, known.transactionNotification) }
        return finding(.unexplained, known.statusNotification)
    }

    /// There is access here, and the other system gives none.
    private func causeOfOurs(_ ours: Ours, _ facts: Facts) -> Finding {
        let line = ours.now.source
        func finding(_ cause: ComparisonCause, _ notification: UUID? = nil) -> Finding {
            Finding(cause, purchase: line.id, notification ?? line.notificationUUID)
        }
        let known = facts.purchases[line.id]
        let records = facts.records.filter { $0.purchase == line.id }
        // Another customer's record may name the purchase by any of its transactions.
        let ids = [line.id] + (known?.transactions.map(\.id) ?? [])
        if records.isEmpty, ids.contains(where: facts.isNamed) {
            return finding(.otherOwner, known?.transactionNotification)
        }
        if let cause = line.causeOfReason { return finding(cause) }
        guard !records.isEmpty else { return finding(line.isShared ? .familySharing : .unexplained) }
        // Only of the transaction that gives access now: an older one says nothing of what is missing there.
        if let id = line.transactionId, let reversal = known?.reversals[id] {
            return finding(.refundReversed, reversal)
        }
        if let paid = known?.transactions.first(where: { $0.id == line.transactionId }), let cause = paid.revocation {
            return finding(cause, paid.notificationUUID)
        }
        let valid = records.filter { $0.span.contains(moment) }
        if valid.contains(where: { $0.product != line.productId && known?.isChanged(from: $0.product) ?? true }) {
            return finding(.upgrade, known?.transactionNotification)
        }
        return finding(line.isShared || records.contains { $0.isShared } ? .familySharing : .unexplained)
    }

    /// Both give access, and until another moment.
    private func causeOfEnds(_ ours: Ours, _ others: Others, _ facts: Facts) -> Finding {
        let (line, record) = (ours.last.source, others.last.source)
        func finding(_ cause: ComparisonCause, _ notification: UUID? = nil) -> Finding {
            Finding(cause, purchase: line.id, notification ?? line.notificationUUID)
        }
        if let cause = line.causeOfReason { return finding(cause) }
        if let id = record.purchase, id != line.id {
            // Another purchase gives it longer: why not here?
            let known = facts.purchases[id]
            if known == nil, facts.unknownToApple.contains(id) { return Finding(.unknownToApple, purchase: id) }
            if let end = others.until, let ourEnd = ours.until, end < ourEnd {
                return causeOfOurs(Ours(last: ours), facts)
            }
            return causeOfOthers(Others(last: others), facts)
        }
        let known = facts.purchases[line.id]
        if let end = others.until, let grace = record.graceEndsAt, grace == end {
            return finding(.gracePeriod, known?.statusNotification)
        }
        if known?.isNonRenewing == true { return finding(.nonRenewingDuration) }
        let paid = known?.transaction(of: record)
        if let paid, let cause = paid.revocation { return finding(cause, paid.notificationUUID) }
        if record.refundedAt != nil, let id = paid?.id, let reversal = known?.reversals[id] {
            return finding(.refundReversed, reversal)
        }
        if let product = record.product, product != line.productId {
            return finding(.upgrade, known?.transactionNotification)
        }
        if line.isShared || record.isShared { return finding(.familySharing) }
        if known?.isInBillingRetry == true || known?.status == 3 {
            return finding(.billingRetry, known?.statusNotification)
        }
        return finding(.unexplained)
    }
}

extension ComparedAccess {
    /// The same access, with what ends it in place of what gives it now.
    fileprivate init(last other: Self) {
        self = other
        now = other.last
    }
}

extension IncumbentRecord {
    /// The time in which it gives access; a refund ends it.
    var span: ComparedSpan<IncumbentRecord> {
        ComparedSpan(
            startsAt: startsAt ?? .distantPast, endsAt: [endsAt, refundedAt].compactMap(\.self).min(), source: self)
    }
}

extension EntitlementStore.Line {
    /// True for access by family sharing, or by an assigned seat.
    fileprivate var isShared: Bool { ownership.map { TransactionFacts.ownershipsPaidElsewhere.contains($0) } ?? false }

    /// The cause that the reason of the period gives to a difference; nil where it gives none.
    fileprivate var causeOfReason: ComparisonCause? {
        switch reason.flatMap(AccessPeriod.Reason.init) {
        case .gracePeriod: .gracePeriod
        case .nonRenewing, .durationUnknown: .nonRenewingDuration
        case .transaction, .status, .nonConsumable, nil: nil
        }
    }
}

extension ComparedPurchase {
    var isConsumable: Bool { productType.flatMap(ProductKind.init) == .consumable }
    /// True for access by family sharing, or by an assigned seat.
    fileprivate var isShared: Bool { ownership.map { TransactionFacts.ownershipsPaidElsewhere.contains($0) } ?? false }
    fileprivate var isNonRenewing: Bool { productType.flatMap(ProductKind.init) == .nonRenewing }

    /// Whether it may have been of a product before another one took its place. Where a record names none: whether it was of
    /// several.
    fileprivate func isChanged(from product: String?) -> Bool {
        product != nil || Set(transactions.map(\.productId)).count > 1
    }

    /// The transaction that a record is about: of its product, with its end where one has it, else the newest.
    fileprivate func transaction(of record: IncumbentRecord) -> Transaction? {
        let ofProduct = transactions.filter { $0.productId == record.product }
        let candidates = ofProduct.isEmpty ? transactions : ofProduct
        let exact = candidates.last { paid in
            guard let end = record.endsAt, let expires = paid.expiresAt else { return false }
            return abs(end.timeIntervalSince(expires)) <= 1
        }
        return exact ?? candidates.last
    }
}

extension ComparedPurchase.Transaction {
    /// The cause that its revocation gives to a difference; nil where it was not revoked.
    fileprivate var revocation: ComparisonCause? {
        guard revokedAt != nil else { return nil }
        if revocationType == "FAMILY_REVOKE" || revocationType == "ASSIGNMENT_REVOKE" { return .familySharing }
        // Thousandths of a per cent.
        let isPart = revocationPercentage.map { $0 < 100_000 } ?? false
        return revocationType == "REFUND_PRORATED" || isPart ? .refundProrated : .refundInFull
    }
}
