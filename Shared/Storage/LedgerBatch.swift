import Contracts
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// What a batch means, given what is known: the part of the one transaction that needs no database.
struct LedgerBatch: Sendable {
    /// First of its uuid, with dates as the database keeps them, in batch order.
    let entries: [LedgerEntry]
    /// Later ones of a uuid that occurs earlier in the batch.
    let copies: [LedgerEntry]

    init(_ batch: [LedgerEntry]) throws {
        var seen: Set<UUID> = []
        var entries: [LedgerEntry] = []
        var copies: [LedgerEntry] = []
        for entry in batch {
            if seen.insert(entry.uuid).inserted {
                entries.append(try entry.withEventAtPostgresPrecision())
            } else {
                copies.append(entry)
            }
        }
        self.entries = entries
        self.copies = copies
        lifecycleEvents = entries.compactMap { entry in entry.event.flatMap { $0.isLifecycleEvent ? $0 : nil } }
    }

    var uuids: [UUID] { entries.map(\.uuid) }

    /// The purchases it speaks of, each once, sorted.
    var keys: [SubscriptionKey] { Set(entries.compactMap { $0.event?.key }).sorted() }

    /// Its lifecycle events, for which the known neighbours are asked.
    let lifecycleEvents: [PurchaseEvent]

    /// What the batch adds, whatever is known of its purchases.
    struct Additions: Sendable {
        /// New to the ledger.
        var entries: [LedgerEntry] = []
        var lifecycleEvents: [PurchaseEvent] = []
        var anomalies: [FoundAnomaly] = []
        var claims: [AccountClaim] = []
        var transactions: [StoredTransaction] = []
    }

    /// - Parameter recorded: which of the uuids the ledger has; they have had their effects.
    func additions(recorded: Set<UUID>) -> Additions {
        var additions = Additions()
        var versions: [TransactionKey: StoredTransaction] = [:]
        additions.entries = recorded.isEmpty ? entries : entries.filter { !recorded.contains($0.uuid) }
        additions.lifecycleEvents =
            recorded.isEmpty
            ? lifecycleEvents : lifecycleEvents.filter { !recorded.contains($0.version.notificationUUID) }
        additions.anomalies = FoundAnomaly.newest(in: additions.entries.lazy.compactMap(\.event))
        for entry in additions.entries {
            guard let event = entry.event else { continue }
            if let claim = AccountClaim(event) { additions.claims.append(claim) }
            if let transaction = StoredTransaction(event) {
                let key = TransactionKey(
                    environment: event.key.environment, id: transaction.version.facts.transactionId)
                if versions[key].map({ $0.version.isOlder(than: transaction.version) }) ?? true {
                    versions[key] = transaction
                }
            }
        }
        additions.transactions = Array(versions.values)
        return additions
    }

    /// What the batch does to the state.
    struct Effects: Sendable {
        /// New to the ledger.
        var lines: [LedgerLine] = []
        /// The purchases that changed, by their keys.
        var written: [PurchaseInBatch] = []
        var gaps: Gaps
        /// All purchases of the batch after it, those that were not written included.
        var purchases: [SubscriptionKey: PurchaseInBatch] = [:]
        var timeline: [TimelineRow] = []
        var applied = Applied()
    }

    /// - Parameters:
    ///   - additions: of this batch.
    ///   - known: the purchases as they stand.
    ///   - durations: of non-renewing products.
    ///   - neighbours: the nearest known lifecycle events around those of the batch.
    ///   - now: by our clock.
    func effects(
        of additions: Additions, known: [SubscriptionKey: PurchaseInBatch], durations: ProductDurations,
        neighbours: [PurchaseEvent], at now: Date
    ) throws -> Effects {
        var effects = Effects(gaps: Gaps(added: additions.lifecycleEvents, neighbours: neighbours))
        effects.purchases = known
        for entry in additions.entries {
            guard let event = entry.event else {
                effects.lines.append(LedgerLine(entry, hasAdvanced: false, recordedAt: now))
                continue
            }
            // Taken out while it is changed, so that it is changed in place.
            var purchase = effects.purchases.removeValue(forKey: event.key) ?? PurchaseInBatch()
            let outcome = try purchase.apply(
                event, durations: durations, traceparent: entry.notification.traceparent, at: now)
            effects.purchases[event.key] = purchase
            if let row = outcome.row { effects.timeline.append(row) }
            effects.lines.append(LedgerLine(entry, hasAdvanced: outcome.hasAdvanced, recordedAt: now))
            if outcome.hasAdvanced { effects.applied.advanced += 1 } else { effects.applied.stale += 1 }
        }
        effects.written = effects.purchases.filter(\.value.isWritten).sorted { $0.key < $1.key }.map(\.value)
        for purchase in effects.written { effects.gaps.join(purchase) }
        effects.applied.inserted = effects.lines.count
        effects.applied.repeated = entries.count + copies.count - effects.lines.count
        effects.applied.changes = effects.timeline.count
        effects.applied.gaps = effects.gaps.found.count
        return effects
    }

    private struct TransactionKey: Hashable {
        var environment: StoreEnvironment
        var id: String
    }
}
