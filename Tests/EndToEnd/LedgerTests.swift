import Testing

@testable import Storekeeper

extension EndToEnd {
    struct LedgerTests {
        @Test func `the ledger equals the simulator's book, with two of each worker at once`() async throws {
            let counts: [ServiceKind: Int] = [.verifier: 2, .deduplicator: 2, .stateUpdater: 2]
            try await EndToEnd.withLine(counts: counts) { stand in
                let options = SimulatorRun.Options(
                    count: 500, seed: 11, subscriptions: 60, duplicates: 0.2, reorder: 30, tampered: 0.06)
                let verdict = try #require(
                    try await DevRun(stand: stand, options: options, show: LiveDisplay(isQuiet: true)).run())
                #expect(verdict.isClean, "\(verdict.text)")
                #expect(verdict.findings.sent == 500)
                #expect(verdict.findings.repetitions > 0)
                #expect(verdict.findings.refusedByReason.count > 1)
                #expect(verdict.findings.inLedger + verdict.findings.forged == 500)
                for instance in await stand.line.running where counts.keys.contains(instance.role) {
                    let page = MetricsPage(try await HTTPPage(at: instance.metricsURL).text)
                    #expect(page.sum(MetricsPage.stageRecords) > 0, "\(instance.name) had no share of the work")
                }
            }
        }

        @Test func `each process in turn killed and started again under load: nothing lost, nothing twice`()
            async throws
        {
            try await EndToEnd.withLine { stand in
                let ledger = EndToEnd.ledger(of: stand)
                let options = SimulatorRun.Options(
                    rate: 40, seed: 12, subscriptions: 60, duplicates: 0.1, reorder: 20, tampered: 0.03)
                let run = DevRun(stand: stand, options: options, show: LiveDisplay(isQuiet: true)) {
                    for role in ServiceKind.allCases {
                        for name in stand.line.plan.names(of: role) {
                            let before = try await ledger.count()
                            try await EndToEnd.eventually("the ledger grows before \(name) is killed") {
                                try await ledger.count() > before + 20
                            }
                            try await stand.line.kill(name)
                            try await stand.line.restart(name)
                        }
                    }
                }
                let verdict = try #require(try await run.run())
                #expect(verdict.isClean, "\(verdict.text)")
                #expect(verdict.findings.inLedger > 80)
            }
        }
    }
}

extension RunReport {
    var text: String { lines.joined(separator: "\n") }
}
