import Foundation
import Postgres
import Storage

/// Runs the service `setup` to completion.
struct SetupRun: Sendable {
    let plan: ProcessPlan
    let spawner: Spawner

    /// - Returns: the plan with the database roles that setup created.
    /// - Throws: `ServiceProcesses.UnexpectedExit` where it fails.
    func run() async throws -> ProcessPlan {
        try plan.prepare()
        let setup = try await spawner.start(
            "setup", program: try plan.binaries.path(of: "setup"), environment: plan.setupEnvironment,
            log: plan.log(of: "setup"))
        let ending = await withTaskCancellationHandler {
            await setup.ending()
        } onCancel: {
            setup.send(SIGTERM)
        }
        guard ending == .exit(0) else { throw ServiceProcesses.UnexpectedExit(of: setup, ending) }
        let connection = PostgresConnection(
            PostgresConfiguration(url: plan.databaseURL, applicationName: "storekeeper dev"), logger: .silent)
        var plan = plan
        plan.databaseRoles = try await Grants(connection).available()
        await connection.close()
        return plan
    }
}
