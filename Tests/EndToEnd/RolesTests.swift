import Commands
import Contracts
import Postgres
import Testing

@testable import Devkit

extension EndToEnd {
    /// Every test here runs a line whose services have the rights of their roles and no more; this one proves it.
    struct RolesTests {
        @Test func `Service that loses a right of its role fails only until the right is granted again`()
            async throws
        {
            try await EndToEnd.withPipeline { services in
                #expect(
                    services.processes.plan.databaseRoles.isSuperset(
                        of: [.deduplicator, .stateUpdater, .recovery, .scheduler]))
                let ledger = EndToEnd.ledger(of: services)
                let owner = ledger.connection
                try await owner.run(
                    unsafeScript: """
                        revoke insert on seen_notification from storekeeper_deduplicator;
                        revoke update on coverage from storekeeper_scheduler;
                        revoke insert on coverage from storekeeper_scheduler;
                        """)
                try await EndToEnd.eventually("the scheduler is rejected") {
                    try await Self.log(of: "scheduler", in: services).contains("permission denied for table coverage")
                }
                let options = SimulatorRun.Options(count: 40, seed: 31, subscriptions: 10)
                let run = DevRun(services: services, options: options, show: LiveDisplay(isQuiet: true))
                async let report = run.run()
                try await EndToEnd.eventually("the deduplicator is rejected") {
                    try await Self.log(of: "deduplicator", in: services)
                        .contains("permission denied for table seen_notification")
                }
                #expect(try await ledger.count() == 0)
                try await owner.run(
                    unsafeScript: """
                        grant insert on seen_notification to storekeeper_deduplicator;
                        grant insert, update on coverage to storekeeper_scheduler;
                        """)
                #expect(try #require(try await report).isClean)
            }
        }

        /// Asked of the file together with the process, so that asking again waits for an answer from elsewhere.
        private static func log(of name: String, in services: DevelopmentEnvironment.RunningServices) async throws
            -> String
        {
            let instance = try #require(await services.processes.running.first { $0.name == name })
            _ = try await HTTPPage(at: instance.metricsURL)
            return instance.process.logTail(lines: 200)
        }
    }
}
