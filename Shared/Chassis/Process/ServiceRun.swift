import Foundation
import ServiceLifecycle

/// One run of a service's parts, from ready to settled.
struct ServiceRun {
    let logger: Logger
    let health: Health
    let settings: Settings<CommonVariables>
    let registry: MetricRegistry

    /// The admin server comes first, so it is stopped last and shows the draining; the drain comes last, so that
    /// readiness goes off before anything stops.
    func run(_ services: [any LongRunning]) async throws {
        let admin = AdminServer(
            address: settings.adminAddress, portFile: settings.adminPortFile, health: health, registry: registry,
            logger: logger)
        let drain = Drain(
            health: health, delay: settings.drainDelay, deadline: settings.shutdownDeadline, logger: logger)
        var configuration = ServiceGroupConfiguration(
            services: ([admin] + services + [drain]).map { service in
                // A part that fails takes the others down gracefully: what they have in hand is settled first.
                .init(service: service, failureTerminationBehavior: .gracefullyShutdownGroup)
            },
            gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet(logger))
        configuration.cancellationSignals = [.sigquit]
        try await ServiceGroup(configuration: configuration).run()
        logger.info("Stopped; everything in hand is settled")
    }

    /// The group narrates its own steps at levels that are meant for those who debug it.
    private func quiet(_ logger: Logger) -> Logger {
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        return quiet
    }
}
