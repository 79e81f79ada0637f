import Chassis
import Contracts
import Pipeline
import Storage
import Synchronization

import struct Foundation.Date
import struct Foundation.UUID

/// Compares what uploads were answered with what the pipeline then wrote. The two are made by the same code from the same
/// facts, so a difference is a bug of ours that lets customers in or keeps them out.
final class PreviewCheck: Service {
    /// What an account was told.
    struct Promise: Sendable {
        var account: UUID
        var environment: StoreEnvironment
        var bundleId: String
        /// The time of the answer.
        var moment: Date
        /// Of the answer.
        var version: Int64
        var tag: String
        /// The parts of the upload.
        var parts: [UUID]
    }

    /// What became of a comparison.
    enum Outcome: String, Sendable {
        case agreed
        case disagreed
        /// Something else was written meanwhile, so there is nothing to compare with.
        case superseded
        /// More uploads than are remembered, or the pipeline did not write it in time.
        case unchecked
    }

    private static let interval = Duration.seconds(1)
    private static let limit = 1000
    /// Longer than the pipeline takes; one that stands still has alerts of its own.
    private static let patience = Duration.seconds(300)

    private let promises = Mutex<[(promise: Promise, since: ContinuousClock.Instant)]>([])
    private let database: Database
    private let reader: EntitlementReader
    private let clock: ProcessClock
    private let logger: Logger

    init(database: Database, definitions: DefinitionTable, clock: ProcessClock, logger: Logger) {
        self.database = database
        reader = EntitlementReader(database: database, definitions: definitions)
        self.clock = clock
        self.logger = logger
    }

    func run() async throws {
        await RetryLoop(clock: ContinuousClock()) { error in
            self.logger.warning("Could not compare uploads with the state; retrying", metadata: ["error": "\(error)"])
        }.run { _ in
            _ = try await self.turn()
            return Self.interval
        }
    }

    /// Remembers an answer.
    func expect(_ promise: Promise) {
        let isRemembered = promises.withLock { promises in
            guard promises.count < Self.limit else { return false }
            promises.append((promise, clock.instant()))
            return true
        }
        if !isRemembered { count(.unchecked) }
    }

    /// Compares what the pipeline has written since.
    func turn() async throws -> [Outcome] {
        let waiting = promises.withLock { $0 }
        guard !waiting.isEmpty else { return [] }
        // One question for all of them, because most turns find nothing new.
        let begun = try await recorded(waiting.compactMap(\.promise.parts.first))
        var outcomes: [Outcome] = []
        for (promise, since) in waiting {
            let hasBegun = promise.parts.first.map(begun.contains) ?? true
            guard let outcome = try await outcome(of: promise, since: since, hasBegun: hasBegun) else { continue }
            promises.withLock { promises in
                promises.removeAll { $0.promise.parts == promise.parts && $0.since == since }
            }
            count(outcome)
            outcomes.append(outcome)
        }
        return outcomes
    }

    private func recorded(_ parts: [UUID]) async throws -> Set<UUID> {
        try await Set(database.rows(LedgerStore.command(recorded: parts)).map { row in try row.value(at: 0) })
    }

    /// Nil while the ledger lacks a part.
    private func outcome(
        of promise: Promise, since: ContinuousClock.Instant, hasBegun: Bool
    ) async throws -> Outcome? {
        guard hasBegun, try await recorded(promise.parts).isSuperset(of: promise.parts) else {
            return since.duration(to: clock.instant()) > Self.patience ? .unchecked : nil
        }
        let stored = try await reader.answers(
            of: [promise.account], in: promise.environment, bundleIds: [promise.bundleId], at: promise.moment)[0]
        guard stored.account.version == promise.version else { return .superseded }
        guard stored.tag != promise.tag else { return .agreed }
        logger.error(
            "The answer to an upload differs from what the pipeline stored; keep this line for a bug report",
            metadata: [
                "account": "\(promise.account.uuidString.lowercased())", "bundle": "\(promise.bundleId)",
                "at": "\(promise.moment.milliseconds)", "version": "\(promise.version)",
            ])
        return .disagreed
    }

    private func count(_ outcome: Outcome) { Metric.apiPreviews.counter(outcome.rawValue).increment() }
}
