import Chassis
import Pipeline
import Storage
import Synchronization

/// Knows up to which event all are decided, for all readers of this instance.
final class EventHorizon: Service {
    static let interval = Duration.milliseconds(250)

    private let state = Mutex(EventFeed.Horizon())
    private let database: Database
    private let instant: @Sendable () -> ContinuousClock.Instant
    private let logger: Logger

    init(database: Database, instant: @escaping @Sendable () -> ContinuousClock.Instant, logger: Logger) {
        self.database = database
        self.instant = instant
        self.logger = logger
    }

    func run() async throws {
        await RetryLoop(clock: ContinuousClock()) { error in
            self.logger.warning(
                "Could not read new events from Postgres; clients that stream events wait. Retrying",
                metadata: ["error": "\(error)"])
        }.run { _ in
            try await self.turn()
            return Self.interval
        }
    }

    func turn() async throws {
        let reading = try await database.withConnection { connection in try await EventFeed(connection).reading() }
        let now = instant()
        let undecided = state.withLock { state in
            state.advance(reading, at: now)
            return state.undecided(at: now)
        }
        Metric.eventsUndecided.gauge().record(undecided / .seconds(1))
    }

    /// The greatest id up to which no event can appear any more.
    func id() throws(Problem) -> Int64 {
        guard let id = state.withLock(\.id) else {
            throw Problem(.unavailable, "The feed of events is starting; send it again in a second.")
        }
        return id
    }
}
