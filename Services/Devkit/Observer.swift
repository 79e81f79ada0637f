import Commands
import Foundation
import Operations

/// Observes the services through their metrics, the broker and the database.
struct Observer: Sendable {
    let processes: ServiceProcesses
    let backlog: Backlog
    let deadLetters: DeadLetterCounter
    let ledger: LedgerReader
    /// Uuids that were in the ledger before the run.
    let before: Set<String>

    /// One moment of the run.
    func snapshot(elapsed: Duration, planned: Int?, _ totals: inout StageCounts.Total) async throws -> Snapshot {
        let running = await processes.running
        let pages = await withTaskGroup(of: (ServiceProcesses.Instance, MetricsPage)?.self) { group in
            for instance in running {
                group.addTask {
                    // A process that starts or stops does not respond.
                    guard let page = try? await HTTPPage(at: instance.metricsURL) else { return nil }
                    return (instance, MetricsPage(page.text))
                }
            }
            return await group.compactMap { $0 }.reduce(into: []) { $0.append($1) }
        }
        for (instance, page) in pages {
            totals.note(
                StageCounts(page, of: instance.kind), of: instance.name, instance.kind,
                process: instance.process.identifier)
        }
        return Snapshot(
            elapsed: elapsed, stages: totals.counts, backlog: backlog.measurement,
            stored: Int64(try await ledger.count() - before.count), planned: planned,
            latency: try await ledger.latency(ofLast: 1000), recovery: try? await ledger.recovery(),
            newest: try await ledger.newestChanges(8))
    }

    /// Changes while notifications make progress.
    func mark(_ snapshot: Snapshot) -> [Int64] { snapshot.mark(deadLetters: deadLetters.count) }
}
