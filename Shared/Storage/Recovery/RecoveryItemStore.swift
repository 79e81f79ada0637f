import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// What the windows of Apple's history list, and what became of it.
public struct RecoveryItemStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Which of these the ledger has.
    public func recorded(_ uuids: [UUID]) async throws -> Set<UUID> {
        guard !uuids.isEmpty else { return [] }
        return Set(
            try await connection.execute(LedgerStatements.recorded, uuids).map { row in try row.value(at: 0) })
    }

    /// Writes down pages that were compared, in one transaction with the windows' counters and Apple's attempts.
    ///
    /// To be called when what was lacking is on the line. Repeatable: of what is known nothing is counted again. Pages of
    /// windows that are settled or gone change nothing but the attempts.
    public func record(_ pages: [SeenPage], attempts: [RecordedAttempt]) async throws {
        guard !pages.isEmpty || !attempts.isEmpty else { return }
        let items = pages.flatMap(\.items)
        let writing =
            [
                // First, so that no window closes while its counters are on the way.
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

    /// How many missing notifications came to an end.
    public struct Settled: Sendable, Equatable {
        /// In the ledger now.
        public var arrived: Int64
        /// Put aside by the line, with a reason.
        public var refused: Int64

        /// All fields.
        public init(arrived: Int64 = 0, refused: Int64 = 0) {
            self.arrived = arrived
            self.refused = refused
        }
    }

    /// Looks what became of all that was published: in the ledger, or among the dead letters. Repeatable, by any number of
    /// processes at once.
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
                    counts[try row.value("window_id"), default: .init()].refused += count
                    settled.refused += count
                }
                if !counts.isEmpty { _ = try transaction.pipeline([RecoveryWindowStore.counting(counts)]) }
                return settled
            }
        }
    }

    /// Which of these windows wait for something that is on the line.
    public func waiting(among windows: [UUID]) async throws -> Set<UUID> {
        guard !windows.isEmpty else { return [] }
        return Set(try await connection.execute(Self.waiting, windows).map { row in try row.value(at: 0) })
    }

    /// What a window lists, oldest first; what the ledger had anyway only until it closes.
    public func items(of window: UUID, states: [RecoveryItem.State]? = nil, limit: Int = 1000) async throws
        -> [RecoveryItem]
    {
        try await connection.execute(Self.find, window, states?.map(\.rawValue), Int64(limit)).map { row in
            let word: String = try row.value("state")
            guard let state = RecoveryItem.State(rawValue: word) else { throw UnknownWindowWord(word: word) }
            var item = RecoveryItem(
                window: window, notificationUUID: try row.value("notification_uuid"), state: state,
                notificationType: try row.optional("notification_type"), subtype: try row.optional("subtype"),
                reason: try row.optional("reason"), message: try row.optional("message"),
                noticedAt: try row.value("noticed_at"))
            item.settledAt = try row.optional("settled_at")
            return item
        }
    }

    /// Forgets what the ledger had anyway, of these windows: it has been counted.
    public func forgetPresent(of windows: [UUID]) async throws {
        guard !windows.isEmpty else { return }
        _ = try await repeating { try await connection.execute(Self.forgetPresent, windows) }
    }

    /// The same of all windows that are closed or failed.
    /// - Returns: how many.
    public func forgetPresent() async throws -> Int {
        try await repeating { try await connection.execute(Self.forgetSettled).affected }
    }
}

extension RecoveryWindow.Counts {
    fileprivate mutating func add(_ state: RecoveryItem.State?, _ count: Int64) {
        listed += count
        switch state {
        case .present: present += count
        case .published, .arrived, .refused: missing += count
        case .unreadable: unreadable += count
        case nil: break
        }
    }
}
