import Postgres
import Storage

/// The apps that this installation has heard of. What is said of another one changes nothing, mostly because of a typo.
struct KnownAppsWarning {
    let connection: PostgresConnection

    /// Says so where the scheduler, which knows every app there is a key for, knows others and not this one.
    func warn(about app: String, in context: CommandContext) async throws {
        let known = Set(try await CoverageStore(connection).coverage().map(\.bundleId))
        guard !known.isEmpty, !known.contains(app) else { return }
        context.warn(
            "\(app.escaped) is not among the apps that the scheduler knows: \(known.sorted().joined(separator: ", ")). "
                + "Is it misspelt?")
    }
}
