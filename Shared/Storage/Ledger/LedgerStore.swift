import Contracts
import Postgres
import Records
import Subscriptions
import Synchronization

import struct Foundation.Date
import struct Foundation.UUID

/// Writes the ledger, the state, the timeline and the stored Kafka offsets of a batch in one transaction.
public struct LedgerStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Applies a batch in three round trips, whatever its size, and in three more where it changes who may use a purchase.
    ///
    /// The first entry of a uuid has effects; further ones, here or in the ledger, have none. An interrupted call may be
    /// repeated: committed effects are not applied again.
    /// - Parameters:
    ///   - batch: in the order of the partitions.
    ///   - moves: one per partition of the batch.
    ///   - recordedAt: the clock of this process.
    /// - Throws: `.rejectedValue` where an entry has a `fault`; otherwise the error of the database, and nothing was changed.
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
                    // Another worker wrote the first periods of the same purchase after the read; read again.
                    throw PostgresError.overtaken
                }
            }
        } catch let error as PostgresError where error.meaning == .commitUnknown {
            guard let made = attempt.withLock({ $0 }), try await hasCommitted(made.transactionId) else { throw error }
            return .applied(made.applied)
        }
    }

    /// A transaction that has sent COMMIT or is about to.
    private struct Attempt {
        var transactionId: String
        var applied: Applied
    }

    /// Whether a COMMIT without an answer took effect.
    ///
    /// Asks the server for the status of the transaction. The stored offset does not answer this: another worker may have
    /// moved it with the same batch. While the server still executes the COMMIT the answer is no; the caller retries and is
    /// fenced if the COMMIT took effect.
    private func hasCommitted(_ transactionId: String) async throws -> Bool {
        let answer = try await connection.execute(LedgerStatements.transactionStatus, transactionId)
        return try answer.first?.optional("status", as: String.self) == "committed"
    }

    /// Some stored offsets were not as expected. Thrown internally, to roll back.
    private struct Fence: Error {
        var moves: [PositionMove]
    }

    /// Sends each statement as soon as its parameters are known and prepares the next while the server executes it. So
    /// statements that need no state go first, and the signed originals, which take longest to pack, are packed while the
    /// state is written.
    private static func apply(
        _ batch: LedgerBatch, moving moves: [PositionMove], recordedAt: Date, in transaction: PostgresTransaction
    ) throws -> Attempt {
        var batch = batch
        let (keys, refundKeys) = (batch.keys, batch.refundKeys)
        // Erased accounts before any row is locked, because an erasure waits for the batches that have read them.
        try transaction.send(
            [
                ErasedAccounts.command(among: batch.accounts, of: keys),
                Command(batch.isMigrating ? LedgerStatements.migrating : LedgerStatements.notMigrating),
                PositionStore.command(moving: moves), Command(LedgerStatements.recorded, batch.uuids),
            ]
                + PurchaseInBatch.commands(reading: keys) + [
                    LedgerStatements.command(neighboursOf: batch.lifecycleEvents),
                    Command(LedgerStatements.transactionId),
                ] + (refundKeys.isEmpty ? [] : [LedgerStatements.command(refundsOf: refundKeys)]))
        // Almost always no uuid is recorded and no account erased, so the additions are computed while the server executes the reads.
        var additions = batch.additions(recorded: [])
        let read = try transaction.receive()
        try check(moves, moved: read[2])
        let erased = try ErasedAccounts(read[0])
        batch.remove(erased)
        let recorded = try Set(read[3].map { row in try row.value(at: 0, as: UUID.self) })
        if !recorded.isEmpty || !erased.isEmpty { additions = batch.additions(recorded: recorded) }
        var writing = LedgerWriting(transaction)
        try writing.add(additions, at: recordedAt)
        let (known, durations) = try PurchaseInBatch.read(read[4...])
        var effects = try batch.effects(
            of: additions, known: known, durations: durations,
            neighbours: try read[9].compactMap { row in try LedgerLine.read(row).event },
            refunds: refundKeys.isEmpty ? [:] : try LedgerStatements.refunds(read[11]), at: recordedAt)
        try writing.write(effects, of: additions, recordedAt: recordedAt)
        try writing.keepConflicts(
            of: batch.entries.filter { recorded.contains($0.uuid) } + batch.copies, recordedAt: recordedAt)
        let written = try writing.results()
        // Another worker wrote the same notification, or the first one of the same purchase, after the read; read again.
        guard written[LedgerStatements.insert]?.affected ?? 0 == effects.lines.count,
            (written[SubscriptionStatements.insert]?.affected ?? 0)
                + (written[SubscriptionStatements.update]?.affected ?? 0) == effects.written.count
        else { throw PostgresError.overtaken }
        var change = effects.ownership
        if let claims = written[ClaimStatements.upsert] { change.formUnion(try ClaimStatements.changes(claims)) }
        try OwnershipStore.decide(change, at: recordedAt, in: transaction)
        effects.applied.conflicting = written[LedgerStatements.keepConflicts]?.affected ?? 0
        effects.applied.shared = try written[ClaimStatements.notice]?.map { row in try SharedAccountNotice(row) } ?? []
        return Attempt(transactionId: try read[10][0].value("id"), applied: effects.applied)
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
    /// Selects a row for each of the notifications that the ledger holds.
    package static func command(recorded notifications: [UUID]) -> Command {
        Command(LedgerStatements.recorded, notifications)
    }
}
