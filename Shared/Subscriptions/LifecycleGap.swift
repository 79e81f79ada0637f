import Contracts

import struct Foundation.Date
import struct Foundation.UUID

/// A step of a subscription's life that nobody told, seen by what came before and after it.
///
/// It follows from two neighbours in Apple's order alone, so it does not matter when which of them arrived; once the
/// missing notification is there, the neighbours are others and the step is gone.
public struct LifecycleGap: Sendable, Hashable {
    /// What was not told.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The first notification is from the middle of a life.
        case beginning
        /// A period began, or its end moved, without being announced.
        case period
        /// It ended over a switched-off auto-renew that nobody saw switched off.
        case renewalTurnedOff
        /// It renewed although auto-renew was last seen switched off.
        case renewalTurnedOn
        /// Billing retry ended without having begun.
        case billingFailure
        /// A grace period ended without having begun.
        case gracePeriod
        /// It was bought again without having ended.
        case end
        /// It went on after its end without being bought again.
        case `return`
        /// Apple's status says that access goes on, and no known transaction explains it.
        case transaction
    }

    /// What was not told.
    public var kind: Kind
    /// The last notification before the step; nil where there is none.
    public var after: UUID?
    /// The first notification after the step: where the step was noticed.
    public var before: UUID
    /// When it must have happened, by Apple's clock: from then…
    public var from: Date?
    /// … until then.
    public var to: Date

    /// All fields.
    public init(kind: Kind, after: UUID?, before: UUID, from: Date?, to: Date) {
        self.kind = kind
        self.after = after
        self.before = before
        self.from = from
        self.to = to
    }

    /// One sentence for an operator.
    public var sentence: String {
        switch kind {
        case .beginning: "The first notification is from the middle of its life; what came before is missing."
        case .period: "A period began or its end moved, and no notification said so."
        case .renewalTurnedOff:
            "It ended because auto-renew was off, and no notification said that it was switched off."
        case .renewalTurnedOn:
            "It renewed although auto-renew was off, and no notification said that it was switched on."
        case .billingFailure: "Billing retry ended, and no notification said that the charge had failed."
        case .gracePeriod: "A grace period ended, and no notification said that it had begun."
        case .end: "It was bought again, and no notification said that it had ended."
        case .return: "It went on after its end, and no notification said that it was bought again."
        case .transaction: "Apple's status says that access goes on, and no known transaction explains it."
        }
    }
}

extension LifecycleGap {
    /// All steps that were skipped in what is known of one purchase.
    /// - Parameter event: in any order, with any repetitions.
    public static func all(in event: some Sequence<PurchaseEvent>) -> [LifecycleGap] {
        var seen: Set<UUID> = []
        let chain = event.filter { $0.isStep && seen.insert($0.version.notificationUUID).inserted }
            .sorted { $0.version < $1.version }
        let before = [nil] + chain.map(Optional.some)
        return zip(before, chain).flatMap { between($0, $1) }
    }

    /// The steps between two neighbours of one purchase in the order of their versions.
    ///
    /// When event arrives between two neighbours, ask for both sides of it; what was recorded with ``before`` being the
    /// later neighbour is replaced by the answer for it.
    /// - Parameters:
    ///   - earlier: the last one before `later` that ``PurchaseEvent/isStep``; nil where there is none.
    ///   - later: one that ``PurchaseEvent/isStep``; for others the answer is empty.
    public static func between(_ earlier: PurchaseEvent?, _ later: PurchaseEvent) -> [LifecycleGap] {
        guard later.isStep, let eventType = later.eventType else { return [] }
        let kinds: [Kind]
        if let earlier {
            kinds = Kind.allCases.filter { TransitionRules(earlier, later, eventType).hasSkipped($0) }
        } else {
            kinds = eventType.isBeginning ? [] : [.beginning]
        }
        return kinds.map { kind in
            LifecycleGap(
                kind: kind, after: earlier?.version.notificationUUID, before: later.version.notificationUUID,
                from: earlier?.version.signedDate, to: later.version.signedDate)
        }
    }
}

extension PurchaseEvent {
    /// Whether the event moves the subscription from one step of its life to the next. Requests and notices change
    /// nothing and are passed over when neighbours are looked for; so are refunds, which may hold an older transaction,
    /// unless Apple's status says that this one ended the subscription. A purchase that turned auto-renew on is told by
    /// two notifications, in any order: only its own is a step.
    public var isStep: Bool {
        switch eventType {
        case .refunded: status == 5
        case .renewalTurnedOn: !isWithPurchase
        case let eventType: eventType?.isStep ?? false
        }
    }

    /// Whether Apple signed it within a minute after a purchase.
    var isWithPurchase: Bool {
        guard let transaction, !transaction.isRenewal, let bought = transaction.purchaseDate else { return false }
        return 0..<60 ~= version.signedDate.timeIntervalSince(bought)
    }
}
