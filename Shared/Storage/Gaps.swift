import Subscriptions

import struct Foundation.UUID

/// What a batch of steps says about skipped ones, given the nearest known steps around each of them.
struct Gaps: Sendable {
    /// A skipped step of a purchase.
    struct Gap: Sendable {
        var key: SubscriptionKey
        var step: LifecycleGap
    }

    /// The known steps whose earlier neighbour is another one now: what was recorded before them is replaced.
    private(set) var revised: [(key: SubscriptionKey, before: UUID)] = []
    /// What is missing before the new steps and the revised ones.
    private(set) var found: [Gap] = []

    /// - Parameters:
    ///   - added: new steps, each once, of any purchases.
    ///   - neighbours: of each of them the nearest known ones on both sides, perhaps repeated, perhaps more.
    init(added: [PurchaseEvent], neighbours: [PurchaseEvent]) {
        let new = Set(added.map(\.version.notificationUUID))
        let steps = neighbours + added
        // Places instead of steps, which are long to copy; of a repeated one the last counts.
        var lives: [SubscriptionKey: [UUID: Int]] = [:]
        for (place, step) in steps.enumerated() {
            lives[step.key, default: [:]][step.version.notificationUUID] = place
        }
        for key in lives.keys.sorted() {
            var earlier: PurchaseEvent?
            for place in (lives[key] ?? [:]).values.sorted(by: { steps[$0].version < steps[$1].version }) {
                let later = steps[place]
                let isNew = new.contains(later.version.notificationUUID)
                // Two known ones may have others between them; nothing changed there.
                if isNew || earlier.map({ new.contains($0.version.notificationUUID) }) ?? false {
                    if !isNew { revised.append((key, later.version.notificationUUID)) }
                    found += LifecycleGap.between(earlier, later).map { Gap(key: key, step: $0) }
                }
                earlier = later
            }
        }
    }
}
