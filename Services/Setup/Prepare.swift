import Chassis
import Contracts
import Kafka
import Records
import Storage

import struct Foundation.Date

/// Creates and changes topics and schema as this release expects. Can be run repeatedly.
struct Prepare {
    let admin: KafkaAdmin
    let replicationFactor: Int
    let accessControl: AccessControl?
    let migrator: Migrator
    let retention: RetentionStore
    let grants: Grants
    let audit: PrivilegeAudit
    let now: @Sendable () -> Date
    let logger: Logger

    func run() async throws {
        try await createTopics()
        let differences = try await mendTopics()
        if let added = try await accessControl?.grant() {
            logger.info("Every service has its ACLs at the brokers", metadata: ["added": "\(added)"])
        }
        try await migrate()
        try await grant()
        guard differences.isEmpty else { throw TopicsDiffer(differences: differences) }
    }

    private func createTopics() async throws {
        let specifications = Topics.all.map { TopicSpecification($0, replicationFactor: replicationFactor) }
        var failures: [String] = []
        for (specification, result) in zip(specifications, try await admin.createTopics(specifications)) {
            let name: Logger.Metadata = ["topic": "\(specification.name)"]
            switch result.outcome {
            case .created:
                logger.info("Topic created", metadata: name)
            case .exists(let partitions) where partitions > specification.partitions:
                logger.info(
                    "Topic exists with more partitions than setup creates; the services use all of them",
                    metadata: name.merging([
                        "partitions": "\(partitions)", "created": "\(specification.partitions)",
                    ]) { $1 })
            case .exists:
                logger.info("Topic exists", metadata: name)
            case .failed(let error):
                failures.append("\(specification.name): \(error)")
            }
        }
        guard failures.isEmpty else { throw TopicsMissing(failures: failures) }
    }

    /// Compares every setting of every topic and sets what setup may set.
    /// - Returns: what only an operator can change.
    private func mendTopics() async throws -> [TopicDifference] {
        let specifications = Topics.all.map { TopicSpecification($0, replicationFactor: replicationFactor) }
        if specifications.allSatisfy({ $0.configuration["min.insync.replicas"] == "1" }) {
            logger.warning(
                "One broker alone holds each record; set STOREKEEPER_REPLICATION_FACTOR to 3 or more to survive its loss",
                metadata: ["replication_factor": "\(replicationFactor)"])
        }
        let states = try await admin.states(of: specifications.map(\.name))
        var left: [TopicDifference] = []
        for specification in specifications {
            guard let state = states[specification.name] else { continue }
            var changes: [String: String] = [:]
            for difference in TopicDifference.all(specification, state) {
                switch difference.remedy {
                case .set(let value): changes[difference.setting] = value
                case .command: left.append(difference)
                }
            }
            guard !changes.isEmpty else { continue }
            try await admin.alter(specification.name, changes)
            logger.notice(
                "Topic settings changed",
                metadata: ["topic": "\(specification.name)", "settings": "\(changes)"])
        }
        return left
    }

    private func migrate() async throws {
        let applied = try await migrator.migrate()
        for migration in applied {
            logger.info(
                "Migration applied", metadata: ["version": "\(migration.version)", "name": "\(migration.name)"])
        }
        // The scheduler creates the following months; without a partition the ledger's default partition takes them.
        let months = try await retention.prepare(now: now())
        logger.info(
            "Database schema and monthly partitions are up to date",
            metadata: [
                "migrations_applied": "\(applied.count)", "months_created": "\(months.made)",
                "months_locked": "\(months.unmade)",
            ])
    }

    /// The roles protect, but nothing depends on them: without them every service works as the owner.
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
        logger.info("Every database role has its grants, and no more")
    }
}

/// Topics that could not be created. Everything else was done: run setup again after repairing the cause.
struct TopicsMissing: Error, CustomStringConvertible {
    var failures: [String]

    var description: String {
        "topics could not be created (\(failures.joined(separator: "; "))); repair that and run setup again"
    }
}

/// Topics that differ and that setup does not change by itself. Everything else was done.
struct TopicsDiffer: Error, CustomStringConvertible {
    var differences: [TopicDifference]

    var description: String {
        "topics differ from the expected settings, as they do where a broker created them by itself:\n"
            + tableText(differences.map(\.row))
    }
}

extension TopicSpecification {
    /// The topic's settings. A write needs the acknowledgement of all replicas but one, so that one may be unavailable.
    init(_ route: Route, replicationFactor: Int) {
        self.init(
            name: route.name, partitions: route.partitions, replicationFactor: replicationFactor,
            configuration: [
                "cleanup.policy": "delete",
                "retention.ms": String(route.retention.components.seconds * 1000),
                "min.insync.replicas": String(max(1, replicationFactor - 1)),
            ])
    }
}
