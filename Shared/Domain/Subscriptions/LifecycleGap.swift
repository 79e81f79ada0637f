import Contracts

import struct Foundation.Date
import struct Foundation.UUID

/// A lifecycle event that no notification reported, inferred from the events before and after it.
///
/// A gap follows from two neighbours in the order of their versions alone, so the order of arrival does not matter. Once
/// the missing notification arrives, the neighbours differ and the gap is gone.
public struct LifecycleGap: Sendable, Hashable {
    /// The lifecycle event that is missing.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The purchase: the first notification is one that no purchase history begins with.
        case beginning
        /// The beginning of a period, or a change of its end.
        case period
        /// The subscription expired because auto-renew was off, and was last reported with auto-renew on.
        case renewalTurnedOff
        /// The subscription renewed, and was last reported with auto-renew off.
        case renewalTurnedOn
        /// Billing retry ended, and its beginning is missing.
        case billingFailure
        /// A grace period ended, and its beginning is missing.
        case gracePeriod
        /// The customer bought again, and the expiry before is missing.
        case end
        /// The subscription continued after its expiry, and the resubscription is missing.
        case `return`
        /// Apple's status reports access that no known transaction explains, or none although a paid period runs.
        case transaction
    }

    /// The lifecycle event that is missing.
    public var kind: Kind
    /// The last notification before the gap; nil where there is none.
    public var after: UUID?
    /// The first notification after the gap: the one that revealed it.
    public var before: UUID
    /// The earliest time of the missing event, by Apple's clock; nil where no notification came before.
    public var from: Date?
    /// The latest time of the missing event, by Apple's clock.
    public var to: Date

    package init(kind: Kind, after: UUID?, before: UUID, from: Date?, to: Date) {
        self.kind = kind
        self.after = after
        self.before = before
        self.from = from
        self.to = to
    }

    /// One English sentence for an operator: what was seen, and which notification is missing.
    public var sentence: String {
        switch kind {
        case .beginning: "The first notification is not the initial purchase; earlier notifications are missing."
        case .period: "A period began or its end changed, and no notification reported it."
        case .renewalTurnedOff:
            "The subscription expired because auto-renew was off, and no notification reported it switched off."
        case .renewalTurnedOn:
            "The subscription renewed although auto-renew was off, and no notification reported it switched on."
        case .billingFailure: "Billing retry ended, and no notification reported the failed charge."
        case .gracePeriod: "A grace period ended, and no notification reported its beginning."
        case .end: "The customer subscribed again, and no notification reported the expiry before."
        case .return: "The subscription continued after its expiry, and no notification reported a resubscription."
        case .transaction: "Apple's status and the known transactions disagree on whether the purchase gives access."
        }
    }
}

extension LifecycleGap {
    /// All gaps in the known events of one purchase.
    /// - Parameter events: in any order, with any repetitions.
    public static func all(in events: some Sequence<PurchaseEvent>) -> [LifecycleGap] {
        var seen: Set<UUID> = []
        let chain = events.filter { $0.isLifecycleEvent && seen.insert($0.version.notificationUUID).inserted }
            .sorted { $0.version < $1.version }
        let before = [nil] + chain.map(Optional.some)
        return zip(before, chain).flatMap { between($0, $1) }
    }

    /// The gaps between two neighbours of one purchase in the order of their versions.
    ///
    /// When an event arrives between two neighbours, compute the gaps on both sides of it; those of the later neighbour
    /// replace the gaps that were recorded with it as ``before``.
    /// - Parameters:
    ///   - earlier: the last ``PurchaseEvent/isLifecycleEvent`` before `later`; nil where there is none.
    ///   - later: a ``PurchaseEvent/isLifecycleEvent``; other events have no gaps.
    public static func between(_ earlier: PurchaseEvent?, _ later: PurchaseEvent) -> [LifecycleGap] {
        guard later.isLifecycleEvent, let eventType = later.eventType else { return [] }
        let kinds: [Kind]
        if let earlier {
            kinds = Kind.allCases.filter { TransitionRules(earlier, later, eventType).isMissing($0) }
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
    /// Whether the event changes the lifecycle of the subscription, so that a gap can be found next to it. Requests and
    /// notices are left out. So are refunds, which may hold an older transaction, unless Apple's status says that this one
    /// ended the subscription. Apple reports a purchase that turned auto-renew on by two notifications, in any order: only
    /// the purchase counts.
    public var isLifecycleEvent: Bool {
        switch eventType {
        case .refunded: status == 5
        case .renewalTurnedOn: !isWithPurchase
        case let eventType: eventType?.isLifecycleEvent ?? false
        }
    }

    /// Whether its transaction pays for a period that has not begun; the status may be of the one that runs.
    var isPaidAhead: Bool { transaction.map { $0.beginning > version.signedDate } ?? false }

    /// Whether Apple signed the event within a minute after a purchase, other than one of more seats.
    var isWithPurchase: Bool {
        guard let bought = transaction?.purchaseDate, transaction?.additionalTransactionReason == nil else {
            return false
        }
        return 0..<60 ~= version.signedDate.timeIntervalSince(bought)
    }
}
