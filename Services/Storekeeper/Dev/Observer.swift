import Foundation

/// Looks at the line from outside: at its metrics, its broker and its database.
struct Observer: Sendable {
    let line: ServiceProcesses
    let backlog: Backlog
    let letters: RejectionCounter
    let ledger: LedgerReader
    /// Uuids that were in the ledger before the run.
    let before: Set<String>

    /// One moment of the run.
    func snapshot(elapsed: Duration, planned: Int?, _ totals: inout StageCounts.Total) async throws -> Snapshot {
        let running = await line.running
        let pages = await withTaskGroup(of: (ServiceProcesses.Instance, MetricsPage)?.self) { group in
            for instance in running {
                group.addTask {
                    // A process that is just starting or stopping does not answer.
                    guard let page = try? await HTTPPage(at: instance.metricsURL) else { return nil }
                    return (instance, MetricsPage(page.text))
                }
            }
            return await group.compactMap { $0 }.reduce(into: []) { $0.append($1) }
        }
        for (instance, page) in pages {
            totals.note(
                StageCounts(page, of: instance.role), of: instance.name, instance.role,
                process: instance.process.identifier)
        }
        return Snapshot(
            elapsed: elapsed, stages: totals.counts, backlog: backlog.look,
            stored: Int64(try await ledger.count() - before.count), planned: planned,
            latency: try await ledger.latency(ofLast: 1000), recovery: try? await ledger.recovery(),
            newest: try await ledger.newestChanges(8))
    }

    /// What changes as long as notifications move. Heartbeats, pages of history and questions to Apple go on in a pipeline
    /// that stalls.
    func mark(_ snapshot: Snapshot) -> [Int64] {
        let stages: [ServiceKind] = [.verifier, .deduplicator, .stateUpdater]
        return [snapshot.stored, Int64(letters.count)] + stages.map { snapshot.backlog?.waiting[$0] ?? -1 }
            + stages.map { Int64(snapshot.stages[$0]?.handled ?? -1) }
    }
}
