import Commands
import Operations
import Postgres
import Storage

import struct Foundation.UUID

/// The customers of a file, stored one after the other.
struct ImportCustomers: Sendable {
    /// The result of each row, and what was given.
    struct Stored: Sendable {
        var results: [ImportResult] = []
        /// The tokens of the customers that are stored, by line.
        var tokens: [Int: UUID] = [:]
        /// Number of grants that are new.
        var grants = 0
    }

    let run: ImportRun
    let rows: [ImportList.Row]
    let performer: Performer
    let isDryRun: Bool

    /// Stores them, in the order of the file.
    /// - Parameters:
    ///   - isShown: whether the progress is shown: not where Apple is asked meanwhile, whose answers take longer.
    ///   - settled: is called with a purchase when each row that names it is stored, and with the accounts of those rows; not with one
    ///     that no stored row names.
    func store(
        isShown: Bool = true, _ settled: (_ id: String, _ accounts: [UUID]) -> Void = { _, _ in }
    ) async throws -> Stored {
        var stored = Stored()
        var left: [String: (rows: Int, accounts: [UUID])] = [:]
        for row in rows { for id in row.originalTransactionIds { left[id, default: (0, [])].rows += 1 } }
        var foreseen = ForeseenCustomers()
        let display = ProgressDisplay()
        var shown = ProgressLine(noun: "customers", total: rows.count, done: 0, elapsed: .zero)
        for row in rows {
            try Task.checkCancellation()
            stored.results.append(try await result(of: row, &stored, &foreseen))
            for id in row.originalTransactionIds {
                guard var known = left[id] else { continue }
                known.rows -= 1
                if let account = stored.tokens[row.line] { known.accounts.append(account) }
                left[id] = known.rows > 0 ? known : nil
                if known.rows == 0, !known.accounts.isEmpty { settled(id, known.accounts) }
            }
            shown.done += 1
            if isShown { display.show(shown, isLast: shown.done == shown.total) }
        }
        return stored
    }

    private func result(
        of row: ImportList.Row, _ stored: inout Stored, _ foreseen: inout ForeseenCustomers
    ) async throws -> ImportResult {
        var mapped = try await run.outcome(of: row, isDryRun: isDryRun)
        if isDryRun {
            let claimed = foreseen.add(row, &mapped)
            // Of a purchase that an account has, the database has said what it can.
            let held = claimed.isEmpty ? [] : try await run.withheld(claimed, from: nil)
            mapped.withhold(claimed.filter { !held.contains($0) })
        }
        stored.tokens[row.line] = mapped.appAccountToken
        var result = ImportResult(row, mapped)
        guard let account = mapped.appAccountToken, !isDryRun, !row.grants.isEmpty else { return result }
        do {
            stored.grants += try await run.give(row.grants, to: account, by: performer)
        } catch let error as OperationError {
            result.fail("\(error)")
        } catch let error as PostgresError where error.sqlState == ErasureStore.rejectedState {
            result = ImportResult(row, ImportRun.Mapped(outcome: .erased))
            stored.tokens[row.line] = nil
        }
        return result
    }
}
