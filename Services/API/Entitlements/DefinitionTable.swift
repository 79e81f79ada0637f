import Chassis
import Pipeline
import Storage
import Synchronization

/// What the apps call the things that their products give, in memory; read again every second, so that a change is
/// effective on all instances at once for people.
final class DefinitionTable: Service {
    static let interval = Duration.seconds(1)

    private let state = Mutex(EntitlementDefinitions())
    private let database: Database
    private let isRead: ReadinessCheck
    private let logger: Logger

    init(database: Database, isRead: ReadinessCheck, logger: Logger) {
        self.database = database
        self.isRead = isRead
        self.logger = logger
    }

    var current: EntitlementDefinitions { state.withLock { $0 } }

    func run() async throws {
        await RetryLoop(clock: ContinuousClock()) { error in
            self.logger.warning(
                "Could not read the entitlement definitions (which products give which entitlement); retrying",
                metadata: ["error": "\(error)"])
        }.run { _ in
            try await self.turn()
            return Self.interval
        }
    }

    /// Reads them.
    func turn() async throws {
        let read = try await database.withConnection { try await EntitlementDefinitionStore($0).current() }
        state.withLock { $0 = read }
        isRead.passes()
    }
}
