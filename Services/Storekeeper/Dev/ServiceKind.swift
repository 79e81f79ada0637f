import Contracts
import Storage

/// A service of the line, by the name of its command.
///
/// From the end of the line to its beginning: started in this order, stopped in the other, so that what is on its way
/// still arrives.
enum ServiceKind: String, CaseIterable, Sendable, Hashable, Codable {
    case scheduler
    case recovery
    case stateUpdater = "state-updater"
    case deduplicator
    case verifier
    case ingest

    /// What it reads, and in which groups; nothing for ingest, which reads no topic.
    var readings: [(route: Route, group: String)] {
        switch self {
        case .stateUpdater: [(Topics.unique.route, ServiceName.stateUpdater.group)]
        case .deduplicator: [(Topics.verified.route, ServiceName.deduplicator.group)]
        case .verifier: [(Topics.received.route, ServiceName.verifier.group)]
        case .recovery:
            [
                (Topics.historyPages.route, ServiceName.recovery.group + ".pages"),
                (Topics.rejected.route, ServiceName.recovery.group + ".letters"),
                (Topics.recoveryRequests.route, ServiceName.recovery.group + ".requests"),
            ]
        case .scheduler: [(Topics.heartbeats.route, ServiceName.scheduler.group + ".heartbeats")]
        case .ingest: []
        }
    }

    /// What it may do in the database; nil for those that have no business there.
    var databaseRole: Grants.Role? {
        switch self {
        case .scheduler: .scheduler
        case .recovery, .stateUpdater, .deduplicator: .worker
        case .verifier, .ingest: nil
        }
    }
}
