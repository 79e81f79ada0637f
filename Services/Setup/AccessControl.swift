import Contracts
import Kafka

/// The ACLs that the services need at the brokers.
struct AccessControl {
    let admin: KafkaAdmin
    /// Of the principals, before the service's name.
    let prefix: String

    /// What the brokers do not have yet.
    func missing() async throws -> [AccessControlEntry] {
        let entries = AccessRule.all.flatMap { rule in
            rule.operations.map {
                AccessControlEntry(
                    principal: prefix + rule.service, resource: .init(rule.resource), operation: .init($0))
            }
        }
        return try await asking { try await admin.missing(of: entries) }
    }

    /// - Returns: how many were missing.
    func grant() async throws -> Int {
        let missing = try await missing()
        if !missing.isEmpty { try await asking { try await admin.create(missing) } }
        return missing.count
    }

    private func asking<Answer: Sendable>(_ request: () async throws -> Answer) async throws -> Answer {
        do {
            return try await request()
        } catch let error as KafkaError where error.meaning != .retry {
            throw ACLsRefused(reason: error)
        }
    }
}

/// The brokers do not let setup read or extend their access-control list.
struct ACLsRefused: Error, CustomStringConvertible {
    var reason: KafkaError

    var description: String {
        "the brokers' ACLs cannot be set: \(reason). The brokers need an authorizer, and setup's principal Alter on the "
            + "cluster; or leave STOREKEEPER_ACL_PRINCIPALS unset, and an administrator runs what `storekeeper acls` prints"
    }
}

extension AccessControlEntry.Resource {
    fileprivate init(_ resource: AccessRule.Resource) {
        self =
            switch resource {
            case .topic(let name): .topic(name)
            case .groups(let prefix): .groups(prefix: prefix)
            }
    }
}

extension AccessControlEntry.Operation {
    fileprivate init(_ operation: AccessRule.Operation) {
        self =
            switch operation {
            case .create: .create
            case .describe: .describe
            case .describeConfigs: .describeConfigs
            case .alterConfigs: .alterConfigs
            case .read: .read
            case .write: .write
            }
    }
}
