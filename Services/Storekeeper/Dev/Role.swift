import Contracts

/// A service of the line, by the name of its command.
///
/// In the order they are started: who reads comes before who writes.
enum Role: String, CaseIterable, Sendable, Hashable, Codable {
    case stateUpdater = "state-updater"
    case deduplicator
    case verifier
    case ingest

    /// What it reads, and in which groups; nothing for ingest, which reads no topic.
    var readings: [(route: Route, group: String)] {
        switch self {
        case .stateUpdater: [(Topics.unique.route, Service.stateUpdater.group)]
        case .deduplicator: [(Topics.verified.route, Service.deduplicator.group)]
        case .verifier: [(Topics.received.route, Service.verifier.group)]
        case .ingest: []
        }
    }
}
