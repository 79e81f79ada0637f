import Subscriptions

import struct Foundation.UUID

/// The lifecycle gaps that a batch opens and closes, given the nearest known lifecycle events around each of its own.
struct Gaps: Sendable {
    /// A gap of a purchase.
    struct Found: Sendable {
        var key: SubscriptionKey
        var gap: LifecycleGap
    }

    /// The known events whose earlier neighbour is another one now: what was recorded before them is replaced.
    private(set) var revised: [(key: SubscriptionKey, before: UUID)] = []
    /// The statuses that are explained now, or told again.
    private(set) var explained: [(key: SubscriptionKey, before: UUID)] = []
    /// What is missing before the new events and the revised ones.
    private(set) var found: [Found] = []

    /// - Parameters:
    ///   - added: new lifecycle events, each once, of any purchases.
    ///   - neighbours: of each of them the nearest known ones on both sides, perhaps repeated, perhaps more.
    init(added: [PurchaseEvent], neighbours: [PurchaseEvent]) {
        let new = Set(added.map(\.version.notificationUUID))
        let events = neighbours + added
        // Places instead of events, which are long to copy; of a repeated one the last counts.
        var purchases: [SubscriptionKey: [UUID: Int]] = [:]
        for (place, event) in events.enumerated() {
            purchases[event.key, default: [:]][event.version.notificationUUID] = place
        }
        for key in purchases.keys.sorted() {
            var earlier: PurchaseEvent?
            for place in (purchases[key] ?? [:]).values.sorted(by: { events[$0].version < events[$1].version }) {
                let later = events[place]
                let isNew = new.contains(later.version.notificationUUID)
                // Two known ones may have others between them; nothing changed there.
                if isNew || earlier.map({ new.contains($0.version.notificationUUID) }) ?? false {
                    if !isNew { revised.append((key, later.version.notificationUUID)) }
                    found += LifecycleGap.between(earlier, later).map { Found(key: key, gap: $0) }
                }
                earlier = later
            }
        }
    }

    /// Notes whether Apple's status of a purchase is explained by what is known.
    mutating func join(_ purchase: PurchaseInBatch) {
        guard let subscription = purchase.subscription, let told = subscription.statusVersion else { return }
        let (before, after) = (purchase.readPeriods.unexplainedStatus, purchase.periods.unexplainedStatus)
        guard before != after else { return }
        if let before { explained.append((subscription.key, before)) }
        if let after {
            found.append(
                Found(
                    key: subscription.key,
                    gap: LifecycleGap(
                        kind: .transaction, after: nil, before: after, from: nil, to: told.signedDate)))
        }
    }
}

extension Set<AccessPeriodRow> {
    /// The notification that says that the purchase runs, where no known transaction explains it.
    fileprivate var unexplainedStatus: UUID? {
        first { $0.reason == AccessPeriod.Reason.status.rawValue }?.notificationUUID
    }
}
