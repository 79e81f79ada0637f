import Chassis
import Pipeline
import Storage

/// Deletes links, sessions and selections that are over.
struct Housekeeping: Service {
    private static let interval = Duration.seconds(3600)
    private static let kept: Double = 7 * 86_400

    let database: ConnectionPool
    let clock: ProcessClock
    let logger: Logger

    func run() async throws {
        await RetryLoop(clock: ContinuousClock()) { error in
            logger.warning("Could not delete old sessions; retrying", metadata: ["error": "\(error)"])
        }.run { _ in
            let end = clock.now().addingTimeInterval(-Self.kept)
            try await database.withConnection { try await ConsoleSessions($0).forget(before: end) }
            return Self.interval
        }
    }
}
