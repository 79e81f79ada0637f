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

    /// All statements run on this connection.
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
        let attempt = Mutex<Attempt?>(nil)
        do {
            return try await repeating {
                do {
                    return try await connection.transaction { transaction in
                        let made = try Self.apply(batch, moving: moves, recordedAt: recordedAt, in: transaction)
                        attempt.withLock { $0 = made }
                        return .applied(made.applied)
                    }
                } catch let fence as Fence {
                    return .fenced(fence.moves)
                } catch let error as PostgresError where error.sqlState == "23P01" {
                    // Another worker wrote the first periods of the same purchase since we looked; look again.
                    throw PostgresError.overtaken
                }
            }
        } catch let error as PostgresError where error.meaning == .commitUnknown {
            guard let made = attempt.withLock({ $0 }), try await hasCommitted(made.transactionId) else { throw error }
            return .applied(made.applied)
        }
    }

    /// A transaction on its way to COMMIT.
    private struct Attempt {
        var transactionId: String
        var applied: Applied
    }

    /// Whether a COMMIT nobody answered has happened.
    ///
    /// Asks for the transaction itself. The stored position tells less: another worker may have moved it with the same
    /// batch. While the server is still busy with it the answer is no; the caller tries again and is fenced if it was yes.
    private func hasCommitted(_ transactionId: String) async throws -> Bool {
        let answer = try await connection.execute(LedgerStatements.transactionStatus, transactionId)
        return try answer.first?.optional("status", as: String.self) == "committed"
    }

    /// Some positions were elsewhere. Thrown inside only, to roll back.
    private struct Fence: Error {
        var moves: [PositionMove]
    }

    /// Statements go to the server as soon as they are known, and while it works on them the next ones are made. So what
    /// needs no state goes first, and the originals, which take longest to pack, are packed while states are written.
    private static func apply(
        _ batch: LedgerBatch, moving moves: [PositionMove], recordedAt: Date, in transaction: PostgresTransaction
    ) throws -> Attempt {
        let keys = batch.keys
        try transaction.send(
            [PositionStore.command(moving: moves), Command(LedgerStatements.recorded, batch.uuids)]
                + PurchaseInBatch.commands(reading: keys) + [
                    LedgerStatements.command(neighboursOf: batch.lifecycleEvents),
                    Command(LedgerStatements.transactionId),
                ])
        // Almost always nothing is recorded; then this is the time to see what the batch adds.
        var additions = batch.additions(recorded: [])
        let read = try transaction.receive()
        try check(moves, moved: read[0])
        let recorded = try Set(read[1].map { row in try row.value(at: 0, as: UUID.self) })
        if !recorded.isEmpty { additions = batch.additions(recorded: recorded) }
        var writing = LedgerWriting(transaction)
        try writing.add(additions)
        let (known, durations) = try PurchaseInBatch.read(read[2...])
        var effects = try batch.effects(
            of: additions, known: known, durations: durations,
            neighbours: try read[6].compactMap { row in try LedgerLine.read(row).event }, at: recordedAt)
        try writing.write(effects, of: additions, recordedAt: recordedAt)
        try writing.keepConflicts(
            of: batch.entries.filter { recorded.contains($0.uuid) } + batch.copies, recordedAt: recordedAt)
        let written = try writing.results()
        // Somebody wrote the same notification or the first of the same purchase since we looked; look again.
        guard written[LedgerStatements.insert]?.affected ?? 0 == effects.lines.count,
            (written[SubscriptionStatements.insert]?.affected ?? 0)
                + (written[SubscriptionStatements.update]?.affected ?? 0) == effects.written.count
        else { throw PostgresError.overtaken }
        effects.applied.conflicting = written[LedgerStatements.keepConflicts]?.affected ?? 0
        effects.applied.shared = try written[ClaimStatements.notice]?.map { row in try SharedAccountNotice(row) } ?? []
        return Attempt(transactionId: try read[7][0].value("id"), applied: effects.applied)
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

extension LedgerStore {
    /// Which of these notifications are in the ledger: one row for each.
    package static func command(recorded notifications: [UUID]) -> Command {
        Command(LedgerStatements.recorded, notifications)
    }
}
