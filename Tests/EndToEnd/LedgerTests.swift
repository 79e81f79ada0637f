import Chassis
import Commands
import Postgres
import TestSupport
import Testing

@testable import Devkit
@testable import Operations

extension EndToEnd {
    struct LedgerTests {
        @Test func `Ledger equals the simulator's record, with two of each worker at once`() async throws {
            let counts: [ServiceKind: Int] = [.verifier: 2, .deduplicator: 2, .stateUpdater: 2]
            try await EndToEnd.withPipeline(counts: counts) { services in
                let options = SimulatorRun.Options(
                    count: 500, seed: 11, subscriptions: 60, duplicates: 0.2, reorder: 30, tampered: 0.06)
                let report = try #require(
                    try await DevRun(services: services, options: options, show: LiveDisplay(isQuiet: true)).run())
                #expect(report.isClean, "\(report.text)")
                #expect(report.findings.sent == 500)
                #expect(report.findings.repetitions > 0)
                #expect(report.findings.rejectedByReason.count > 1)
                #expect(report.findings.inLedger + report.findings.forged == 500)
                for instance in await services.processes.running where counts.keys.contains(instance.kind) {
                    let page = MetricsPage(try await HTTPPage(at: instance.metricsURL).text)
                    #expect(page.sum(MetricsPage.stageRecords) > 0, "\(instance.name) had no share of the work")
                    let build = ["service": instance.kind.rawValue, "version": BuildInformation.version]
                    #expect(page.sum("storekeeper_build_info", build) == 1)
                }
                try await Self.expectFewRows(for: report.findings.inLedger, services)
            }
        }

        /// Rows that the one transaction writes for a notification of the simulator's mix; `timeline` without the publisher's
        /// mark. Out of order and one at a time they are the most: each of them updates its purchase, and gaps come and go.
        private static func expectFewRows(
            for notifications: Int, _ services: DevelopmentEnvironment.RunningServices
        ) async throws {
            let connection = TestDatabase.connection(
                PostgresConfiguration(url: services.databaseURL, applicationName: "storekeeper-tests"))
            let counted = Statement(
                unsafeSQL: """
                    select (sum(n_tup_ins + n_tup_upd + n_tup_del) - sum(n_tup_upd) filter (where relname = 'timeline'))::bigint
                            as written,
                        sum(n_tup_ins) filter (where relname = 'notification')::bigint as notifications,
                        string_agg(relname || ' ' || n_tup_ins || '+' || n_tup_upd || '+' || n_tup_del, ', ') as tables
                    from pg_stat_user_tables
                    where relname ~ '^(notification|notification_payload.*|transaction|subscription|access_period|timeline)$'
                        or relname in ('account_claim', 'purchase_account', 'account_version', 'shared_account_notice', 'anomaly', 'lifecycle_gap', 'recovery_request')
                    """)
            var (written, tables) = (0.0, "")
            try await EndToEnd.eventually("the server has counted every notification") {
                let row = try await connection.execute(counted)[0]
                written = Double(try row.value("written", as: Int64.self))
                tables = try row.value("tables")
                return try row.value("notifications", as: Int64.self) == notifications
            }
            #expect(written / Double(notifications) < 6.5, "\(notifications) notifications: \(tables)")
            await connection.close()
        }
    }
}

extension RunReport {
    var text: String { lines.joined(separator: "\n") }
}
