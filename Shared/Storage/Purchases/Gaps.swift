import Subscriptions

import struct Foundation.UUID

/// The lifecycle gaps that a batch opens and closes, given the nearest known lifecycle events around each of its own.
struct Gaps: Sendable {
    /// A gap of a purchase.
    struct Found: Sendable {
        var key: SubscriptionKey
        var gap: LifecycleGap
    }

    /// The known events whose earlier neighbour has changed: the gaps recorded before them are replaced.
    private(set) var revised: [(key: SubscriptionKey, before: UUID)] = []
    /// The statuses that transactions explain now, or that are recorded again.
    private(set) var explained: [(key: SubscriptionKey, before: UUID)] = []
    /// The gaps before the new events and the revised ones.
    private(set) var found: [Found] = []

    /// - Parameters:
    ///   - added: new lifecycle events, each once, of any purchases.
    ///   - neighbours: the nearest known ones on both sides of each new event; may hold duplicates and further events.
    init(added: [PurchaseEvent], neighbours: [PurchaseEvent]) {
        let new = Set(added.map(\.version.notificationUUID))
        let events = neighbours + added
        // Indexes instead of events, which are expensive to copy; the last of duplicates counts.
        var purchases: [SubscriptionKey: [UUID: Int]] = [:]
        for (place, event) in events.enumerated() {
            purchases[event.key, default: [:]][event.version.notificationUUID] = place
        }
        for key in purchases.keys.sorted() {
            var earlier: PurchaseEvent?
            for place in (purchases[key] ?? [:]).values.sorted(by: { events[$0].version < events[$1].version }) {
                let later = events[place]
                let isNew = new.contains(later.version.notificationUUID)
                // Further known events may lie between two known ones; nothing changed there.
                if isNew || earlier.map({ new.contains($0.version.notificationUUID) }) ?? false {
                    if !isNew { revised.append((key, later.version.notificationUUID)) }
                    found += LifecycleGap.between(earlier, later).map { Found(key: key, gap: $0) }
                }
                earlier = later
            }
        }
    }

    /// Records whether known transactions explain Apple's status of a purchase.
    mutating func join(_ purchase: PurchaseInBatch) {
        guard let subscription = purchase.subscription, let statusVersion = subscription.statusVersion else { return }
        let (before, after) = (purchase.readUnexplainedStatus, purchase.unexplainedStatus)
        guard before != after else { return }
        if let before { explained.append((subscription.key, before)) }
        if let after {
            found.append(
                Found(
                    key: subscription.key,
                    gap: LifecycleGap(
                        kind: .transaction, after: nil, before: after, from: nil, to: statusVersion.signedDate)))
        }
    }
}
