import Foundation
import Storage
import TestSupport
import Testing

@testable import Console

@Suite(.hangLimit) struct InsightReportsTests {
    private static let key = InsightReports.Key(
        report: .ends, app: CoverageStore.App(.production, SampleContents.app))

    @Test func `InsightReports lets no request wait for a slow report, and has it for a later one`() async throws {
        try await RunningConsole.with { console in
            try await SampleContents.fill(console)
            let pool = ConnectionPool([TestDatabase.connection(console.database)])
            let reports = InsightReports(database: pool, patience: .milliseconds(1), now: { RunningConsole.now })
            // The report has no connection until this one is given back.
            let early = try await pool.withConnection { _ in try await reports.answer(Self.key)?.table }
            #expect(early == nil)
            var late: InsightStore.Table?
            while late == nil { late = try await reports.answer(Self.key)?.table }
            #expect(late?.rows == [["voluntary", "1"]])
            await pool.close()
        }
    }

    @Test func `InsightReports computes one file at a time, and refuses others until it is done`() async throws {
        try await RunningConsole.with { console in
            try await SampleContents.fill(console)
            let pool = ConnectionPool([TestDatabase.connection(console.database)])
            let reports = InsightReports(database: pool, patience: .seconds(60), now: { RunningConsole.now })
            let (faults, signal) = AsyncStream<Fault>.makeStream()
            let files = try await pool.withConnection { _ in
                let files = (0..<5).map { _ in
                    Task { () async throws -> Int? in
                        do {
                            return try await reports.file(Self.key, limit: 1000).rows.count
                        } catch let fault as Fault {
                            signal.yield(fault)
                            return nil
                        }
                    }
                }
                // One of them waits for the connection.
                var refused: [Int] = []
                for await fault in faults {
                    refused.append(fault.status)
                    if refused.count == 4 { break }
                }
                #expect(refused == [503, 503, 503, 503])
                return files
            }
            var rows: [Int] = []
            for file in files { if let count = try await file.value { rows.append(count) } }
            #expect(rows == [1])
            #expect(try await reports.file(Self.key, limit: 1000).rows.count == 1)
            await pool.close()
        }
    }

    @Test func `InsightReports computes a report once for all requests of the time, and keeps it`() async throws {
        try await RunningConsole.with { console in
            try await SampleContents.fill(console)
            let pool = ConnectionPool([TestDatabase.connection(console.database)])
            let reports = InsightReports(database: pool, patience: .seconds(60), now: { RunningConsole.now })
            let rows = try await withThrowingTaskGroup(of: [[String?]]?.self) { group in
                for _ in 0..<20 { group.addTask { try await reports.answer(Self.key)?.table.rows } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(rows == Array(repeating: [["voluntary", "1"]], count: 20))
            // Kept: what happens to the ledger meanwhile is in the next one.
            try await SampleContents.fill(console)
            let kept = try await reports.answer(Self.key)?.table.rows
            #expect(kept == [["voluntary", "1"]])
            await pool.close()
        }
    }
}
