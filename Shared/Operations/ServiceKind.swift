import Contracts
import Records
import Storage

/// A service, named like its executable.
///
/// In reverse pipeline order: services start in this order and stop in the opposite one, so that records in transit are
/// still processed. The API and the console, which show what the others write, come first.
package enum ServiceKind: String, CaseIterable, Sendable, Hashable, Codable {
    case console
    case api
    case webhooks
    case scheduler
    case recovery
    case stateUpdater = "state-updater"
    case deduplicator
    case verifier
    case ingest

    /// What it does, for people who look at a stage.
    package var purpose: String {
        switch self {
        case .ingest: "stores what Apple posts"
        case .verifier: "verifies that Apple signed it"
        case .deduplicator: "drops repetitions"
        case .stateUpdater: "updates ledger, state and timeline"
        case .recovery: "brings back what is missing"
        case .scheduler: "compares each day with Apple's history"
        case .webhooks: "sends each change to app backends"
        case .api: "answers app backends"
        case .console: "answers support and operators"
        }
    }

    /// Whether notifications pass it.
    package var isStage: Bool { self != .api && self != .console && self != .webhooks }

    /// Whether others send it requests.
    package var isServer: Bool { self == .ingest || self == .api || self == .console }

    /// Whether a deployment may do without it.
    package var isOptional: Bool { self == .console || self == .webhooks }

    /// Whether its offsets are in the database, beside its results, and those in Kafka are a copy.
    package var storesOffsets: Bool { self == .stateUpdater || self == .webhooks }

    /// Its topics and consumer groups; none for ingest, the API and the console.
    package var readings: [(route: Route, group: String)] {
        switch self {
        case .stateUpdater: [(Topics.unique.route, ServiceName.stateUpdater.group)]
        case .deduplicator: [(Topics.verified.route, ServiceName.deduplicator.group)]
        case .verifier:
            [
                (Topics.received.route, ServiceName.verifier.group),
                (Topics.deferred.route, ServiceName.verifier.group + ".deferred"),
            ]
        case .recovery:
            [
                (Topics.historyPages.route, ServiceName.recovery.group + ".pages"),
                (Topics.rejected.route, ServiceName.recovery.group + ".dead-letters"),
                (Topics.recoveryRequests.route, ServiceName.recovery.group + ".requests"),
            ]
        case .webhooks: [(Topics.changed.route, ServiceName.webhooks.group)]
        case .scheduler: [(Topics.heartbeats.route, ServiceName.scheduler.group + ".heartbeats")]
        case .ingest, .api, .console: []
        }
    }

    /// Its database role; nil for services without database access.
    package var databaseRole: Grants.Role? {
        switch self {
        case .console: .console
        case .api: .api
        case .webhooks: .webhooks
        case .scheduler: .scheduler
        case .recovery: .recovery
        case .stateUpdater: .stateUpdater
        case .deduplicator: .deduplicator
        case .verifier, .ingest: nil
        }
    }
}
