import Chassis
import Contracts
import Kafka
import Storage

import struct Foundation.Date

/// Brings the broker and the database to what this build expects. May run as often as one likes.
struct Prepare {
    let admin: KafkaAdmin
    let replicationFactor: Int
    let migrator: Migrator
    let retention: RetentionStore
    let grants: Grants
    let audit: PrivilegeAudit
    let now: @Sendable () -> Date
    let logger: Logger

    func run() async throws {
        try await createTopics()
        try await migrate()
        try await grant()
    }

    private func createTopics() async throws {
        let specifications = Topics.all.map { TopicSpecification($0, replicationFactor: replicationFactor) }
        var failures: [String] = []
        for (specification, result) in zip(specifications, try await admin.createTopics(specifications)) {
            let name: Logger.Metadata = ["topic": "\(specification.name)"]
            switch result.outcome {
            case .created:
                logger.info("Topic created", metadata: name)
            case .exists(let partitions) where partitions < specification.partitions:
                logger.warning(
                    "The topic has \(partitions) partitions where \(specification.partitions) were meant: fewer workers can share it",
                    metadata: name)
            case .exists:
                logger.info("Topic was there", metadata: name)
            case .failed(let error):
                failures.append("\(specification.name): \(error)")
            }
        }
        guard failures.isEmpty else { throw TopicsMissing(failures: failures) }
    }

    private func migrate() async throws {
        let applied = try await migrator.migrate()
        for migration in applied {
            logger.info(
                "Migration applied", metadata: ["version": "\(migration.version)", "name": "\(migration.name)"])
        }
        // The scheduler makes the months that follow; without one the ledger's rest takes them.
        let months = try await retention.prepare(now: now())
        logger.info(
            "The database is up to date",
            metadata: ["applied": "\(applied.count)", "months": "\(months.made)", "left": "\(months.unmade)"])
    }

    /// The roles are a fence, not a need: without them everything works, as the user who owns it all.
    private func grant() async throws {
        let missing = try await grants.apply()
        if !missing.isEmpty {
            logger.warning(
                "Database roles are missing and this user may not create them: an administrator runs these, then setup again",
                metadata: [
                    "statements": "\(missing.map { "create role \($0.rawValue) nologin;" }.joined(separator: " "))"
                ])
        }
        let excess = try await audit.findings()
        for finding in excess {
            logger.warning(
                "A database privilege is open that setup may not revoke: an administrator runs the statement",
                metadata: ["open": "\(finding.problem)", "statement": "\(finding.remedy)"])
        }
        guard missing.isEmpty, excess.isEmpty else { return }
        logger.info("Every database role has its grants, and no privilege is open")
    }
}

/// Topics that could not be made. Nothing else was undone: run setup again when the cause is gone.
struct TopicsMissing: Error, CustomStringConvertible {
    var failures: [String]

    var description: String {
        "topics could not be created (\(failures.joined(separator: "; "))); mend that and run setup again"
    }
}

extension TopicSpecification {
    /// What the broker is asked for. One replica fewer than there are must confirm a write, so that one may be away.
    init(_ route: Route, replicationFactor: Int) {
        self.init(
            name: route.name, partitions: route.partitions, replicationFactor: replicationFactor,
            configuration: [
                "retention.ms": String(route.retention.components.seconds * 1000),
                "min.insync.replicas": String(max(1, replicationFactor - 1)),
            ])
    }
}
