import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// The notifications that the windows of Apple's history list, and their states.
public struct RecoveryItemStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// The given uuids that the ledger holds.
    public func recorded(_ uuids: [UUID]) async throws -> Set<UUID> {
        guard !uuids.isEmpty else { return [] }
        return Set(
            try await connection.execute(LedgerStatements.recorded, uuids).map { row in try row.value(at: 0) })
    }

    /// Stores compared pages, in one transaction with the windows' counters and Apple's send attempts.
    ///
    /// Call it after the missing notifications were published to Kafka. Idempotent: stored items are not counted again. Pages
    /// of windows that are settled or deleted only store attempts.
    public func record(_ pages: [SeenPage], attempts: [RecordedAttempt]) async throws {
        guard !pages.isEmpty || !attempts.isEmpty else { return }
        let items = pages.flatMap(\.items)
        let writing =
            [
                // First, so that no window closes before its counters are written.
                Command(Self.lockWindows, Array(Set(pages.map(\.window)))),
                Self.inserting(items), SendAttemptStore.inserting(attempts),
            ] + pages.map { RecoveryWindowStore.seeing(page: $0.page, part: $0.part, of: $0.window) }
        try await repeating {
            try await connection.transaction { transaction in
                let inserted = try transaction.pipeline(writing)[1]
                var counts: [UUID: RecoveryWindow.Counts] = [:]
                for row in inserted {
                    let state = RecoveryItem.State(rawValue: try row.value("state"))
                    counts[try row.value("window_id"), default: .init()].add(state, try row.value("count"))
                }
                if !counts.isEmpty { _ = try transaction.pipeline([RecoveryWindowStore.counting(counts)]) }
            }
        }
    }

    /// Number of missing notifications that were settled.
    public struct Settled: Sendable, Equatable {
        /// Number that reached the ledger.
        public var arrived: Int64
        /// Number that the pipeline rejected.
        public var rejected: Int64

        package init(arrived: Int64 = 0, rejected: Int64 = 0) {
            self.arrived = arrived
            self.rejected = rejected
        }
    }

    /// Settles published notifications that are in the ledger or among the dead letters now. Idempotent; any number of
    /// processes may call it at once.
    public func settle(at time: Date) async throws -> Settled {
        try await repeating {
            try await connection.transaction { transaction in
                let answers = try transaction.pipeline([Command(Self.arrive, time), Command(Self.refuse, time)])
                var settled = Settled()
                var counts: [UUID: RecoveryWindow.Counts] = [:]
                for row in answers[0] {
                    let count: Int64 = try row.value("count")
                    counts[try row.value("window_id"), default: .init()].recovered += count
                    settled.arrived += count
                }
                for row in answers[1] {
                    let count: Int64 = try row.value("count")
                    counts[try row.value("window_id"), default: .init()].rejected += count
                    settled.rejected += count
                }
                if !counts.isEmpty { _ = try transaction.pipeline([RecoveryWindowStore.counting(counts)]) }
                return settled
            }
        }
    }

    /// The given windows with notifications that the pipeline has not processed yet.
    public func waiting(among windows: [UUID]) async throws -> Set<UUID> {
        guard !windows.isEmpty else { return [] }
        return Set(try await connection.execute(Self.waiting, windows).map { row in try row.value(at: 0) })
    }

    /// The notifications that a window lists, oldest first. Those that the ledger held already are deleted when it closes.
    public func items(of window: UUID, states: [RecoveryItem.State]? = nil, limit: Int = 1000) async throws
        -> [RecoveryItem]
    {
        try await connection.execute(Self.find, window, states?.map(\.rawValue), Int64(limit)).map { row in
            let word: String = try row.value("state")
            guard let state = RecoveryItem.State(rawValue: word) else { throw UnknownWindowWord(word: word) }
            return RecoveryItem(
                window: window, notificationUUID: try row.value("notification_uuid"), state: state,
                notificationType: try row.optional("notification_type"), subtype: try row.optional("subtype"),
                reason: try row.optional("reason"), message: try row.optional("message"),
                noticedAt: try row.value("noticed_at"))
        }
    }

    /// Deletes the items of these windows that the ledger held already: the counters include them.
    public func deletePresent(of windows: [UUID]) async throws {
        guard !windows.isEmpty else { return }
        _ = try await repeating { try await connection.execute(Self.deletePresent, windows) }
    }

    /// Deletes the items that the ledger held already, of all windows that are closed or failed.
    /// - Returns: number of rows.
    public func deletePresent() async throws -> Int {
        try await deletingInPortions { try await connection.execute(Self.deletePresentOfSettled, $0).affected }
    }
}

extension RecoveryWindow.Counts {
    fileprivate mutating func add(_ state: RecoveryItem.State?, _ count: Int64) {
        listed += count
        switch state {
        case .present: present += count
        case .published, .arrived, .rejected: missing += count
        case .unreadable: unreadable += count
        case nil: break
        }
    }
}
