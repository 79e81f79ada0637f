import Chassis
import Postgres
import ServerAPI
import Storage

/// Makes a service ready once the database is reachable and has this release's schema: a release that cannot work must
/// not replace one that does.
///
/// Afterwards, an unavailable database does not affect readiness: the service retries, and a restart would not help. What is
/// compared from then on, once a minute, are the clocks.
package struct SchemaReadiness: Service {
    private let connection: PostgresConnection
    private let pooler: PoolerCheck
    private let schemaIsCurrent: ReadinessCheck
    private let clock: ProcessClock
    private let apple: AppleTime?
    private let logger: Logger

    /// - Parameters:
    ///   - service: the executable's name.
    ///   - apple: of a service that asks Apple.
    package init(_ context: ServiceContext<some DatabaseVariables>, service: String, apple: AppleTime? = nil) {
        let database = context.settings.postgres(for: service)
        connection = PostgresConnection(database, logger: context.logger)
        pooler = PoolerCheck(database, logger: context.logger)
        schemaIsCurrent = context.health.readinessCheck("database", waitingFor: "the first connection")
        clock = context.clock
        self.apple = apple
        logger = context.logger
    }

    /// Checks every second until the schema is current, then waits for shutdown.
    /// - Throws: `ConfigurationProblems` where a pooler gives each transaction another session.
    package func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await ask()
            await compareClocks()
        }
        // A service that returns early counts as failed.
        try? await gracefulShutdown()
    }

    private func ask() async throws {
        var lastError = ""
        while !Task.isCancelled {
            do {
                try await pooler.run()
                try await Migrator(connection).check()
                schemaIsCurrent.passes()
                if let warning = try await connection.transport().warning { logger.warning("\(warning)") }
                await connection.close()
                return
            } catch let problem as SharedSessions {
                throw ConfigurationProblems([ConfigurationProblem("\(problem)")])
            } catch {
                schemaIsCurrent.fails("\(error)")
                if lastError != "\(error)" {
                    logger.warning("Database not ready; retrying", metadata: ["error": "\(error)"])
                }
                lastError = "\(error)"
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    private func compareClocks() async {
        var told: Set<String> = []
        func tell(_ difference: Double, of other: String) {
            guard let sentence = ServerClock.sentence(difference, of: other) else {
                told.remove(other)
                return
            }
            guard told.insert(other).inserted else { return }
            logger.warning(
                "Clocks differ: \(sentence); dates are wrong by as much until both follow a time service (NTP)")
        }
        while !Task.isCancelled {
            // A database that is away is reported by the parts that need it.
            if let difference = try? await ServerClock.difference(connection, now: clock.now) {
                Metric.clockDifference.gauge().record(difference)
                tell(difference, of: "the database's")
            }
            if let difference = apple?.difference(from: clock.unmoved()) {
                Metric.appleClockDifference.gauge().record(difference)
                tell(difference, of: "Apple's")
            } else if apple != nil {
                // An alert would keep what is known no more.
                Metric.appleClockDifference.gauge().destroy()
            }
            await connection.close()
            try? await Task.sleep(for: .seconds(60))
        }
    }
}
