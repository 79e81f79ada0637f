import AppStore
import Chassis
import Postgres
import ServerAPI
import Storage

/// Apple's limits, shared by all processes through Postgres: a question takes the next free moment, so that what one service does not
/// use, the others may.
package struct SharedAPILimits: APILimits {
    /// Who waits for the answers.
    package enum Urgency: Sendable {
        /// A customer or an operator: takes the next moment, however many wait.
        case interactive
        /// Recovery: takes only what is free, until half of its time has passed.
        case background
    }

    /// The limits of each app and environment, for one process.
    /// - Parameters:
    ///   - connection: of its own, so that a question does not wait for other work.
    ///   - share: of Apple's limits, for all processes together.
    package static func each(
        _ connection: PostgresConnection, share: Double, urgency: Urgency, clock: APIClock, logger: Logger
    ) -> @Sendable (AcceptedApp, AppStoreEnvironment) -> any APILimits {
        { app, environment in
            SharedAPILimits(
                connection, of: app, in: environment, share: share, urgency: urgency, clock: clock, logger: logger)
        }
    }

    private let store: AppleRequestLimitStore
    private let app: AcceptedApp
    private let environment: AppStoreEnvironment
    private let share: Double
    private let urgency: Urgency
    private let clock: APIClock
    private let logger: Logger

    package init(
        _ connection: PostgresConnection, of app: AcceptedApp, in environment: AppStoreEnvironment, share: Double,
        urgency: Urgency, clock: APIClock, logger: Logger
    ) {
        store = AppleRequestLimitStore(connection)
        self.app = app
        self.environment = environment
        self.share = share
        self.urgency = urgency
        self.clock = clock
        self.logger = logger
    }

    package func admit(_ endpoint: APIEndpoint, before deadline: Duration) async throws {
        let question = question(endpoint)
        let half = (clock.elapsed() + deadline) / 2
        while true {
            let now = clock.elapsed()
            let left = (deadline - now) / .seconds(1)
            let isUrgent = urgency == .interactive || now >= half
            let wait = try await asked { try await store.take(question, patience: isUrgent ? left : 0) }
            if let wait {
                if wait > 0 { try await clock.sleep(.seconds(wait)) }
                return
            }
            let pause = try await asked { try await store.pause(before: question) }
            guard !isUrgent, pause < left else {
                throw APIError.rateLimited(until: clock.now().addingTimeInterval(pause))
            }
            try await clock.sleep(max(.seconds(pause), .milliseconds(5)))
        }
    }

    package func close(_ endpoint: APIEndpoint, for pause: Duration) async {
        do {
            try await store.close(question(endpoint), seconds: pause / .seconds(1))
        } catch {
            logger.warning(
                "Could not note that Apple wants a pause; other processes learn it from Apple",
                metadata: ["error": "\(error)"])
        }
    }

    private func asked<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as PostgresError {
            throw APIError.unreachable(
                "the database, through which the services share Apple's limits, did not answer (\(error)); try again")
        }
    }

    private func question(_ endpoint: APIEndpoint) -> AppleRequestLimitStore.Question {
        let limit = endpoint.limit(in: environment, share: share)
        return AppleRequestLimitStore.Question(
            bundleId: app.bundleId, environment: environment.rawValue, endpoint: endpoint.rawValue,
            perSecond: limit.perSecond, burst: limit.burst)
    }
}
