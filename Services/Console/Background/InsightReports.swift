import Storage

import struct Foundation.Date

/// The reports of the screen *Insight*, computed outside of requests and kept for some minutes: those over a month of a large ledger take
/// seconds, and figures of a month do not change within minutes.
actor InsightReports {
    struct Key: Sendable, Hashable {
        let report: InsightStore.Report
        let app: CoverageStore.App
    }

    struct Answer: Sendable {
        let table: InsightStore.Table
        let at: Date
    }

    private struct Failure {
        let error: any Error
        let at: Date
    }

    /// Rows of a page; a file has more, and is not kept.
    static let rows = 100
    private static let kept = 600.0
    private static let pause = 30.0

    private let database: ConnectionPool
    private let patience: Duration
    private let now: @Sendable () -> Date
    private var answers: [Key: Answer] = [:]
    private var failures: [Key: Failure] = [:]
    private var isExporting = false
    /// Requests that wait for a report that is being computed.
    private var running: [Key: [AsyncStream<Void>.Continuation]] = [:]

    /// - Parameters:
    ///   - database: with a timeout that reports need.
    ///   - patience: how long a request waits for a report that is being computed.
    init(database: ConnectionPool, patience: Duration, now: @escaping @Sendable () -> Date) {
        self.database = database
        self.patience = patience
        self.now = now
    }

    /// The report; nil while it is being computed.
    func answer(_ key: Key) async throws -> Answer? {
        if let answer = fresh(key) { return answer }
        if let failure = failures[key], now().timeIntervalSince(failure.at) < Self.pause { throw failure.error }
        let (ended, end) = AsyncStream<Void>.makeStream()
        if running[key] == nil { Task { await compute(key) } }
        running[key, default: []].append(end)
        let patience = patience
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in ended {} }
            group.addTask { try? await Task.sleep(for: patience) }
            await group.next()
            group.cancelAll()
        }
        if let answer = fresh(key) { return answer }
        if running[key] == nil, let failure = failures[key] { throw failure.error }
        return nil
    }

    /// For a file: up to so many rows, computed now. One file at a time, because it is not kept and pages need the connection, too.
    /// - Throws: `Fault` while another file is computed.
    func file(_ key: Key, limit: Int) async throws -> InsightStore.Table {
        guard !isExporting else {
            throw Fault(503, "Another report is being exported.", "Try again in a minute.")
        }
        isExporting = true
        defer { isExporting = false }
        return try await table(key, limit: limit)
    }

    private func table(_ key: Key, limit: Int) async throws -> InsightStore.Table {
        let moment = now()
        return try await database.withConnection { connection in
            try await InsightStore(connection).table(
                key.report, key.app.bundleId, in: key.app.environment, at: moment, limit: limit)
        }
    }

    private func fresh(_ key: Key) -> Answer? {
        answers[key].flatMap { now().timeIntervalSince($0.at) < Self.kept ? $0 : nil }
    }

    private func compute(_ key: Key) async {
        let moment = now()
        do {
            answers[key] = Answer(table: try await table(key, limit: Self.rows), at: moment)
            failures[key] = nil
        } catch {
            failures[key] = Failure(error: error, at: now())
        }
        for end in running.removeValue(forKey: key) ?? [] { end.finish() }
    }
}
