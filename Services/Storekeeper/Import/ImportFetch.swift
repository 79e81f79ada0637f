import Commands
import Kafka
import Pipeline
import ServerAPI
import Synchronization

import struct Foundation.UUID

/// Asks Apple about the purchases of a file while its customers are stored: Apple's limit alone decides how long an import takes.
struct ImportFetch: Sendable {
    private enum Part: Sendable {
        case stored(ImportCustomers.Stored)
        case fetched(BackfillRun.Counts)
    }

    /// The accounts of the rows that name a purchase.
    private final class Accounts: Sendable {
        private let known = Mutex<[String: [UUID]]>([:])

        var purchases: [String] { known.withLock { Array($0.keys) } }

        func of(_ id: String) -> [UUID] { known.withLock { $0[id] ?? [] } }

        func set(_ accounts: [UUID], of id: String) { known.withLock { $0[id] = accounts } }
    }

    let run: ImportRun
    let client: AppStoreServerAPI
    let producer: Producer
    let seal: RecordSeal
    let journal: BackfillJournal
    let parallel: Int
    let context: CommandContext

    /// Stores the customers, and asks about each purchase that an earlier run did not fetch.
    /// - Throws: `Interrupted` after a signal; the progress is saved.
    func run(_ customers: ImportCustomers) async throws -> (ImportCustomers.Stored, ImportFetched) {
        let ids = Set(customers.rows.flatMap(\.originalTransactionIds))
        let doneBefore = ids.count { journal.done.contains($0) }
        let (settled, settle) = AsyncStream<String>.makeStream()
        let accounts = Accounts()
        let backfill = BackfillRun(
            client: client, producer: producer, seal: seal, journal: journal, parallel: parallel, now: context.now
        ) { [run] id, original in
            // One purchase brings the customer's whole history, of which the others are a part: but a row may be wrong.
            try await run.claim(original, for: accounts.of(id))
        }
        var (stored, counts) = (ImportCustomers.Stored(), BackfillRun.Counts())
        do {
            (stored, counts) = try await SignalHandler.cancellingOnSignal { [journal] in
                try await withThrowingTaskGroup(of: Part.self) { group in
                    group.addTask {
                        defer { settle.finish() }
                        return .stored(
                            // Where an earlier run has all of Apple's answers, the customers are shown.
                            try await customers.store(isShown: doneBefore == ids.count) { id, named in
                                accounts.set(named, of: id)
                                if !journal.done.contains(id) { settle.yield(id) }
                            })
                    }
                    group.addTask {
                        .fetched(
                            try await backfill.run(
                                settled, of: ids.count, doneBefore: doneBefore))
                    }
                    var parts = (ImportCustomers.Stored(), BackfillRun.Counts())
                    for try await part in group {
                        switch part {
                        case .stored(let stored): parts.0 = stored
                        case .fetched(let counts): parts.1 = counts
                        }
                    }
                    return parts
                }
            }
        } catch let interruption as Interrupted {
            context.warn("Progress is saved; run the same command to continue.")
            throw interruption
        }
        await producer.close(deadline: .seconds(5))
        let purchases = accounts.purchases
        var fetched = try await found(customers.rows.filter { stored.tokens[$0.line] != nil }, stored.tokens, counts)
        fetched.purchases = purchases.count
        fetched.fetchedBefore = purchases.count { journal.done.contains($0) }
        fetched.signedObjects = counts.signedObjects
        return (stored, fetched)
    }

    /// Reads Apple's answers, row by row.
    private func found(
        _ rows: [ImportList.Row], _ tokens: [Int: UUID], _ counts: BackfillRun.Counts
    ) async throws -> ImportFetched {
        var fetched = ImportFetched()
        for row in rows {
            var withheld: Set<String> = []
            for id in row.originalTransactionIds {
                if let reason = counts.rejected[id] { fetched.failures[row.line] = "\(id): \(reason)" }
                if let named = counts.accounts[id], named != tokens[row.line] {
                    withheld.insert(counts.originals[id] ?? id)
                }
            }
            let originals = row.originalTransactionIds.compactMap { counts.originals[$0] }
            if !originals.isEmpty {
                withheld.formUnion(try await run.withheld(originals, from: tokens[row.line]))
            }
            if !withheld.isEmpty { fetched.withheld[row.line] = withheld.sorted() }
        }
        return fetched
    }
}
