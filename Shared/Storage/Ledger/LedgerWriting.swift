import Postgres

import struct Foundation.Date

/// The writes of `LedgerStore.apply`. Every writer sends them in the same order, so that two writers of the same rows wait
/// for each other without a deadlock. Statements without rows are not sent.
struct LedgerWriting {
    private let transaction: PostgresTransaction
    private var sent: [Statement] = []

    init(_ transaction: PostgresTransaction) { self.transaction = transaction }

    private mutating func send(_ command: Command) throws {
        try transaction.send([command])
        sent.append(command.statement)
    }

    /// The writes that do not depend on the stored state.
    mutating func add(_ additions: LedgerBatch.Additions, at recordedAt: Date) throws {
        if !additions.anomalies.isEmpty { try send(AnomalyStore.command(upserting: additions.anomalies)) }
        if !additions.transactions.isEmpty { try send(TransactionStore.command(upserting: additions.transactions)) }
        if !additions.claims.isEmpty {
            try send(ClaimStatements.command(claiming: additions.claims))
        }
        if !additions.refunds.isEmpty {
            try send(RefundRequestStore.command(upserting: additions.refunds, at: recordedAt))
        }
    }

    mutating func write(
        _ effects: LedgerBatch.Effects, of additions: LedgerBatch.Additions, recordedAt: Date
    ) throws {
        for command in SubscriptionStatements.commands(writing: effects.written) { try send(command) }
        let periods = effects.written.reduce(into: (before: Set<AccessPeriodRow>(), after: Set<AccessPeriodRow>())) {
            $0.before.formUnion($1.readPeriods)
            $0.after.formUnion($1.periods)
        }
        for command in AccessPeriodStatements.commands(from: periods.before, to: periods.after) { try send(command) }
        if !effects.timeline.isEmpty { try send(TimelineStore.command(inserting: effects.timeline)) }
        if !effects.lines.isEmpty {
            try send(LedgerStatements.command(inserting: effects.lines))
            for command in LedgerStatements.commands(insertingPayloadsOf: additions.entries, recordedAt: recordedAt) {
                try send(command)
            }
        }
        if additions.entries.contains(where: { $0.event?.transaction != nil }) {
            try send(
                ClaimStatements.command(
                    noticingSharingIn: additions.entries, purchases: effects.purchases, at: recordedAt))
        }
        for command in LifecycleGapStore.commands(
            for: effects.gaps, purchases: effects.purchases, noticedAt: recordedAt)
        {
            try send(command)
        }
    }

    /// Runs after the payloads are written, because it reads them: a copy may repeat an entry of the same batch.
    mutating func keepConflicts(of repeated: [LedgerEntry], recordedAt: Date) throws {
        guard !repeated.isEmpty else { return }
        try send(try LedgerStatements.command(keepingConflictsOf: repeated, recordedAt: recordedAt))
    }

    /// The results of the statements.
    func results() throws -> [Statement: Rows] {
        Dictionary(zip(sent, try transaction.receive()), uniquingKeysWith: { first, _ in first })
    }
}
