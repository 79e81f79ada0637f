import Commands
import Postgres
import Storage

/// Warns about an app that this deployment does not know: a setting for it has no effect and is mostly a typo.
struct KnownAppsWarning {
    let connection: PostgresConnection

    /// Warns where the scheduler, which knows every app with an API key, knows other apps but not this one.
    func warn(about app: String, in context: CommandContext) async throws {
        let known = Set(try await CoverageStore(connection).coverage().map(\.bundleId))
        guard !known.isEmpty, !known.contains(app) else { return }
        context.warn(
            "The scheduler does not know \(app.escaped), only \(known.sorted().joined(separator: ", ")): check the "
                + "spelling.")
    }
}
