import Contracts
import Postgres
import Subscriptions
import Synchronization

import struct Foundation.Date
import struct Foundation.UUID

/// The one transaction everything rests on: the ledger, the state, the timeline and the position in the log move together
/// or not at all.
public struct LedgerStore: Sendable {
    private let connection: PostgresConnection

    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Applies a batch in three round trips, whatever its size.
    ///
    /// Of several entries with one uuid, here or in the ledger, the first has effects and the others have none. An
    /// interrupted call may be repeated: what was done is not done again.
    /// - Parameters:
    ///   - batch: in the order of the log.
    ///   - moves: one per partition of the batch.
    ///   - recordedAt: now.
    /// - Throws: `.refusedValue` where an entry has a `fault`; otherwise what the world did, and nothing was changed.
    public func apply(
        _ batch: [LedgerEntry], moving moves: [PositionMove], recordedAt: Date
    ) async throws -> ApplyOutcome {
        let batch = try LedgerBatch(batch)
        let applied = Mutex<Applied?>(nil)
        do {
            return try await repeating {
                do {
                    return try await connection.transaction { transaction in
                        let outcome = try Self.apply(batch, moving: moves, recordedAt: recordedAt, in: transaction)
                        applied.withLock { $0 = outcome }
                        return .applied(outcome)
                    }
                } catch let fence as Fence {
                    return .fenced(fence.moves)
                }
            }
        } catch let error as PostgresError where error.meaning == .commitUnknown {
            return try await resolve(error, moves: moves, applied: applied.withLock { $0 })
        }
    }

    /// Finds out whether a COMMIT nobody answered has happened: the positions moved if and only if everything did.
    private func resolve(
        _ error: PostgresError, moves: [PositionMove], applied: Applied?
    ) async throws -> ApplyOutcome {
        guard !moves.isEmpty, let applied else { throw error }
        let stored = try await connection.execute(
            LedgerStatements.positions, moves.map(\.cluster), moves.map(\.group), moves.map(\.topic),
            moves.map(\.partition)
        ).map { row in try row.value("next_offset", as: Int64.self) }
        // A zombie may have moved on from where we ended, so at least; the batch itself is done in either case.
        if stored.count == moves.count, zip(moves, stored).allSatisfy({ $0.next <= $1 }) { return .applied(applied) }
        throw error
    }

    /// Some positions were elsewhere. Thrown inside only, to roll back.
    private struct Fence: Error {
        var moves: [PositionMove]
    }

    private static func apply(
        _ batch: LedgerBatch, moving moves: [PositionMove], recordedAt: Date, in transaction: PostgresTransaction
    ) throws -> Applied {
        let originals = batch.entries.map { SignedOriginal(encoding: $0.signedPayload) }
        let headers = Array(Set(originals.flatMap(\.headers)))
        let read = try transaction.pipeline([
            PositionStore.command(moving: moves),
            Command(LedgerStatements.recorded, batch.uuids),
            SubscriptionStatements.command(locking: batch.keys),
            Command(LedgerStatements.keepChains, headers),
            Command(LedgerStatements.digests, headers),
        ])
        try check(moves, moved: read[0])
        let recorded = try Set(read[1].map { row in try row.value(at: 0, as: UUID.self) })
        let known = try read[2].map { row in
            SubscriptionRevision(
                subscription: try SubscriptionStore.subscription(row), revision: try row.value("revision"))
        }
        let digests = try read[4].map { row in try row.value(at: 0, as: [UInt8].self) }
        var effects = batch.effects(
            recorded: recorded, known: Dictionary(uniqueKeysWithValues: known.map { ($0.subscription.key, $0) }))
        let repeated = batch.entries.filter { recorded.contains($0.notificationUUID) } + batch.copies
        let written = try transaction.pipeline([
            LedgerStatements.command(
                inserting: effects.inserted, originals: Dictionary(uniqueKeysWithValues: zip(batch.uuids, originals)),
                digests: Dictionary(uniqueKeysWithValues: zip(headers, digests)), recordedAt: recordedAt),
            TransactionStore.command(upserting: effects.transactions),
            SubscriptionStatements.command(upserting: effects.subscriptions),
            TimelineStore.command(inserting: effects.changes, learnedAt: recordedAt),
            Command(
                LedgerStatements.flagConflicts, repeated.map(\.notificationUUID), repeated.map(\.decodedPayload)),
        ])
        // Somebody wrote the same notification or the first of the same purchase since we looked; look again.
        guard written[0].affected == effects.inserted.count, written[2].affected == effects.subscriptions.count else {
            throw PostgresError.overtaken
        }
        effects.applied.conflicting = written[4].affected
        return effects.applied
    }

    private static func check(_ moves: [PositionMove], moved: Rows) throws {
        guard moved.affected != moves.count else { return }
        let places = try Set(
            moved.map { row in
                LogPosition(topic: try row.value("topic"), partition: try row.value("partition"), offset: 0)
            })
        throw Fence(
            moves: moves.filter { !places.contains(LogPosition(topic: $0.topic, partition: $0.partition, offset: 0)) })
    }
}
