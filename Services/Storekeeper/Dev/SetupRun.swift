import Foundation
import Postgres
import Storage

/// The service `setup`, run to its end before a line stands.
struct SetupRun: Sendable {
    let plan: LinePlan
    let spawner: Spawner

    /// - Returns: the plan with what is known only now: the roles that the database has.
    /// - Throws: `Line.Death` where it fails.
    func run() async throws -> LinePlan {
        try plan.prepare()
        let setup = try await spawner.start(
            "setup", program: try plan.programs.path(of: "setup"), environment: plan.setupEnvironment,
            log: plan.log(of: "setup"))
        let ending = await withTaskCancellationHandler {
            await setup.ending()
        } onCancel: {
            setup.send(SIGTERM)
        }
        guard ending == .exit(0) else { throw Line.Death(of: setup, ending) }
        let connection = PostgresConnection(
            PostgresConfiguration(url: plan.databaseURL, applicationName: "storekeeper dev"), logger: .silent)
        var plan = plan
        plan.databaseRoles = try await Grants(connection).available()
        await connection.close()
        return plan
    }
}
