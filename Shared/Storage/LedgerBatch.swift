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
            if seen.insert(entry.notificationUUID).inserted {
                entries.append(try entry.withNewsAtPostgresPrecision())
            } else {
                copies.append(entry)
            }
        }
        self.entries = entries
        self.copies = copies
        self.steps = entries.compactMap { entry in entry.news.flatMap { $0.isStep ? $0 : nil } }
    }

    var uuids: [UUID] { entries.map(\.notificationUUID) }

    /// The purchases it speaks of, each once, sorted.
    var keys: [SubscriptionKey] { Set(entries.compactMap { $0.news?.key }).sorted() }

    /// Its steps, for which the known neighbours are asked.
    let steps: [PurchaseEvent]

    /// What the batch adds, whatever is known of its purchases.
    struct Additions: Sendable {
        /// New to the ledger.
        var entries: [LedgerEntry] = []
        var steps: [PurchaseEvent] = []
        var marks: [SubscriptionKey: Marks] = [:]
        var claims: [AccountClaim] = []
        var transactions: [TransactionVersion] = []
    }

    /// - Parameter recorded: which of the uuids the ledger has; they have had their effects.
    func additions(recorded: Set<UUID>) -> Additions {
        var additions = Additions()
        var versions: [TransactionKey: TransactionVersion] = [:]
        additions.entries =
            recorded.isEmpty ? entries : entries.filter { !recorded.contains($0.notificationUUID) }
        additions.steps =
            recorded.isEmpty ? steps : steps.filter { !recorded.contains($0.version.notificationUUID) }
        for entry in additions.entries {
            guard let news = entry.news else { continue }
            additions.marks[news.key, default: Marks()].join(news)
            if let claim = AccountClaim(news) { additions.claims.append(claim) }
            if let version = TransactionVersion(news) {
                let key = TransactionKey(news: news.key, id: version.facts.transactionId)
                if versions[key].map({ $0.isOlder(than: version) }) ?? true { versions[key] = version }
            }
        }
        additions.transactions = Array(versions.values)
        return additions
    }

    /// What the batch does to the state.
    struct Effects: Sendable {
        /// New to the ledger, with whether each advanced a state.
        var inserted: [(entry: LedgerEntry, hasAdvanced: Bool)] = []
        var subscriptions: [SubscriptionRevision] = []
        var gaps: Gaps
        /// All purchases of the batch after it, those that were not written included.
        var states: [SubscriptionKey: SubscriptionRevision] = [:]
        var changes: [NewsChange] = []
        /// What was said of transactions that are not the current ones; almost always nothing.
        var earlier: [EarlierNews] = []
        var applied = Applied()
    }

    /// - Parameters:
    ///   - additions: of this batch.
    ///   - known: the purchases as they stand.
    ///   - neighbours: the nearest known steps around those of the batch.
    ///   - now: by our clock.
    func effects(
        of additions: Additions, known: [SubscriptionKey: SubscriptionRevision], neighbours: [PurchaseEvent],
        at now: Date
    ) -> Effects {
        var effects = Effects(gaps: Gaps(added: additions.steps, neighbours: neighbours))
        var states = known
        var written: Set<SubscriptionKey> = []
        for entry in additions.entries {
            guard let news = entry.news else {
                effects.inserted.append((entry, false))
                continue
            }
            let before = states[news.key]
            let learned = Subscription.applying(news, known: before?.subscription)
            effects.inserted.append((entry, learned.isAdvance))
            if learned.isAdvance { effects.applied.advanced += 1 } else { effects.applied.stale += 1 }
            effects.changes += learned.changes.map {
                NewsChange(
                    version: news.version, key: news.key, bundleId: news.bundleId, change: $0,
                    traceparent: entry.traceparent)
            }
            if let earlier = EarlierTransaction(news, of: learned.subscription, at: now) {
                effects.earlier.append(EarlierNews(news: news, transaction: earlier, traceparent: entry.traceparent))
            }
            if learned.subscription != before?.subscription {
                states[news.key] = SubscriptionRevision(
                    subscription: learned.subscription, revision: before?.revision ?? 0)
                written.insert(news.key)
            }
        }
        effects.subscriptions = written.sorted().compactMap { states[$0] }
        effects.states = states
        effects.applied.inserted = effects.inserted.count
        effects.applied.repeated = entries.count + copies.count - effects.inserted.count
        effects.applied.changes = effects.changes.count
        effects.applied.skipped = effects.gaps.found.count
        return effects
    }

    private struct TransactionKey: Hashable {
        var environment: String
        var id: String

        init(news: SubscriptionKey, id: String) {
            self.environment = news.environment.rawValue
            self.id = id
        }
    }
}
