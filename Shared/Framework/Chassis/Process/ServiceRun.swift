import Foundation
import ServiceLifecycle

/// One run of a process's services, from ready to stopped.
struct ServiceRun {
    let logger: Logger
    let health: Health
    let settings: Settings<CommonVariables>
    let registry: MetricRegistry
    /// Called when a shutdown takes too long.
    var whenTooLate: @Sendable () -> Void = { exit(ExitCode.failed.rawValue) }

    /// The admin server comes first, so it stops last and shows the draining; the drain comes last, so that
    /// readiness ends before anything stops.
    func run(_ services: [any Service]) async throws {
        let deadline = ShutdownDeadline(limit: settings.shutdownDeadline) { [logger, whenTooLate] in
            logger.critical("Stopping took longer than STOREKEEPER_SHUTDOWN_DEADLINE; exiting with 1")
            whenTooLate()
        }
        defer { deadline.disarm() }
        let portFile = settings.adminPortFile
        let admin = AdminServer(
            address: settings.adminAddress, health: health, registry: registry, logger: logger,
            onListening: { [logger] in PortFile.write($0, to: portFile, logger: logger) })
        let drain = Drain(health: health, delay: settings.drainDelay, deadline: deadline, logger: logger)
        let configuration = ServiceGroupConfiguration(
            services: ([admin] + services + [drain]).map { part in
                // A service that fails stops the others gracefully: they complete the work in progress first. Without a name, its
                // name would be all that is in it, secrets included.
                .init(
                    service: part, failureTerminationBehavior: .gracefullyShutdownGroup,
                    serviceName: String(describing: type(of: part)))
            },
            gracefulShutdownSignals: [.sigterm, .sigint], cancellationSignals: [.sigquit], logger: quiet(logger))
        try await ServiceGroup(configuration: configuration).run()
        logger.info("Stopped; what was not committed is processed after the next start")
    }

    /// The group logs its own steps at levels meant for debugging.
    private func quiet(_ logger: Logger) -> Logger {
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        return quiet
    }
}
