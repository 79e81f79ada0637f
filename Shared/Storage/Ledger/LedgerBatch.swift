import Contracts
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// The effects of a batch on the stored state: the part of `LedgerStore.apply` that needs no database.
struct LedgerBatch: Sendable {
    /// The first entry of each uuid, in batch order, with dates at the precision of Postgres.
    private(set) var entries: [LedgerEntry]
    /// Entries whose uuid occurs earlier in the batch.
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

    /// The accounts that the entries name.
    var accounts: Set<ErasedAccounts.Account> { entries.reduce(into: []) { $0.formUnion($1.accounts) } }

    /// Removes erased accounts from the entries.
    mutating func remove(_ erased: ErasedAccounts) {
        guard !erased.isEmpty else { return }
        var erased = erased
        for entry in entries { erased.keepPurchase(of: entry) }
        for index in entries.indices { erased.remove(from: &entries[index]) }
    }

    var uuids: [UUID] { entries.map(\.uuid) }

    /// The purchases of the batch and those that were migrated to them, each once, sorted.
    var keys: [SubscriptionKey] {
        Set(entries.flatMap { entry in [entry.event?.key, entry.event?.migratedKey].compactMap { $0 } }).sorted()
    }

    /// The lifecycle events of the batch, whose stored neighbours are needed.
    let lifecycleEvents: [PurchaseEvent]

    /// The purchases of which the batch has a notification about a refund, each once, sorted.
    var refundKeys: [SubscriptionKey] {
        Set(entries.compactMap { entry in entry.event.flatMap { RefundRequest($0) == nil ? nil : $0.key } }).sorted()
    }

    /// The rows that the batch adds independently of the stored state.
    struct Additions: Sendable {
        /// Entries new to the ledger.
        var entries: [LedgerEntry] = []
        var lifecycleEvents: [PurchaseEvent] = []
        var anomalies: [FoundAnomaly] = []
        var claims: [AccountClaim] = []
        var transactions: [StoredTransaction] = []
        var refunds: [RefundFacts] = []
    }

    /// - Parameter recorded: the uuids that the ledger has already; they have no effect again.
    func additions(recorded: Set<UUID>) -> Additions {
        var additions = Additions()
        var versions: [TransactionKey: StoredTransaction] = [:]
        additions.entries = recorded.isEmpty ? entries : entries.filter { !recorded.contains($0.uuid) }
        additions.lifecycleEvents =
            recorded.isEmpty
            ? lifecycleEvents : lifecycleEvents.filter { !recorded.contains($0.version.notificationUUID) }
        additions.anomalies = FoundAnomaly.newest(in: additions.entries.lazy.compactMap(\.event))
        additions.refunds = RefundFacts.newest(in: additions.entries.lazy.compactMap(\.event))
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

    /// The effects of the batch on the stored state.
    struct Effects: Sendable {
        /// Rows new to the ledger.
        var lines: [LedgerLine] = []
        /// The purchases that changed, by their keys.
        var written: [PurchaseInBatch] = []
        var gaps: Gaps
        /// All purchases of the batch after it, changed or not.
        var purchases: [SubscriptionKey: PurchaseInBatch] = [:]
        var timeline: [TimelineRow] = []
        var applied = Applied()

        /// The purchases that were new, or now name another account, app or customer, or were bought again: an earlier transaction
        /// that changes nothing else may say so.
        var ownership: OwnershipChange {
            purchases.values.reduce(into: OwnershipChange()) { $0.join($1.readOwned, $1.owned) }
        }
    }

    /// - Parameters:
    ///   - additions: the additions of this batch.
    ///   - known: the stored purchases.
    ///   - durations: the configured durations of non-renewing products.
    ///   - neighbours: the nearest stored lifecycle events around those of the batch.
    ///   - refunds: the newest that is stored about refunds of the purchases in ``refundKeys``.
    ///   - now: the clock of this process.
    func effects(
        of additions: Additions, known: [SubscriptionKey: PurchaseInBatch], durations: ProductDurations,
        neighbours: [PurchaseEvent], refunds: [SubscriptionKey: [RefundRequest]] = [:], at now: Date
    ) throws -> Effects {
        var effects = Effects(gaps: Gaps(added: additions.lifecycleEvents, neighbours: neighbours))
        effects.purchases = known
        for (key, refunds) in refunds { effects.purchases[key]?.know(refunds) }
        for entry in additions.entries {
            guard let event = entry.event else {
                effects.lines.append(LedgerLine(entry, hasAdvanced: false, recordedAt: now))
                continue
            }
            // Removed from the dictionary, so that it is changed in place and not copied.
            var purchase = effects.purchases.removeValue(forKey: event.key) ?? PurchaseInBatch()
            let outcome = try purchase.apply(
                event, durations: durations, traceparent: entry.notification.traceparent, at: now)
            effects.purchases[event.key] = purchase
            if let row = outcome.row { effects.timeline.append(row) }
            if let migrated = event.migratedKey {
                var replaced = effects.purchases.removeValue(forKey: migrated) ?? PurchaseInBatch()
                let row = try replaced.migrate(
                    by: event, durations: durations, traceparent: entry.notification.traceparent, at: now)
                effects.purchases[migrated] = replaced
                if let row { effects.timeline.append(row) }
            }
            effects.lines.append(LedgerLine(entry, hasAdvanced: outcome.hasAdvanced, recordedAt: now))
            if outcome.hasAdvanced { effects.applied.advanced += 1 } else { effects.applied.stale += 1 }
        }
        // Keys are sorted, because moving purchases, which are large, takes longer.
        effects.written = effects.purchases.keys.sorted().compactMap { key in
            effects.purchases[key].flatMap { $0.isWritten ? $0 : nil }
        }
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

extension LedgerBatch {
    /// Whether a purchase of it replaced another one by a migration.
    var isMigrating: Bool { entries.contains { $0.event?.migratedKey != nil } }
}

extension PurchaseEvent {
    /// The purchase that the one of the event replaced by a migration; nil where the transaction names none.
    var migratedKey: SubscriptionKey? {
        guard let id = transaction?.previousOriginalTransactionId, id != key.originalTransactionId else { return nil }
        return SubscriptionKey(environment: key.environment, originalTransactionId: id)
    }
}
