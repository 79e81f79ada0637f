import Chassis
import Postgres
import Storage

/// A process is not ready before the database has answered it once and has the tables of its build: a release that cannot
/// work must not take the place of one that does.
///
/// Behind that it is no condition any more: what goes away later is tried again, and a restart would not help.
public struct SchemaReadiness: Service {
    private let connection: PostgresConnection
    private let isThere: ReadinessCheck
    private let logger: Logger

    /// - Parameter service: the command's name.
    public init(_ context: ServiceContext<some DatabaseVariables>, service: String) {
        connection = PostgresConnection(context.settings.postgres(for: service), logger: context.logger)
        isThere = context.health.readinessCheck("database", waitingFor: "its first answer")
        logger = context.logger
    }

    /// Asks until it is so, each second, then waits for the end of the process.
    public func run() async throws {
        await cancelWhenGracefulShutdown { await ask() }
        // A part that returns early counts as failed.
        try? await gracefulShutdown()
    }

    private func ask() async {
        var said = ""
        while !Task.isCancelled {
            do {
                try await Migrator(connection).check()
                isThere.passes()
                await connection.close()
                return
            } catch {
                isThere.fails("\(error)")
                if said != "\(error)" { logger.warning("Not ready yet", metadata: ["error": "\(error)"]) }
                said = "\(error)"
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }
}
