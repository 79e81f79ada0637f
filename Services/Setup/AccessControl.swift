import Contracts
import Kafka

/// The ACLs that the services need at the brokers.
struct AccessControl {
    let admin: KafkaAdmin
    /// Of the principals, before the service's name.
    let prefix: String
    /// Between two looks.
    var pause: @Sendable () async throws -> Void = { try await Task.sleep(for: .milliseconds(250)) }

    private static let looks = 40

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

    /// What is missing for good: brokers hear of new ACLs with a delay, and any broker may be asked.
    func settled() async throws -> [AccessControlEntry] {
        var missing = try await missing()
        for _ in 1..<Self.looks where !missing.isEmpty {
            try await pause()
            missing = try await self.missing()
        }
        return missing
    }

    /// Ends when the brokers have them.
    /// - Returns: how many were missing.
    func grant() async throws -> Int {
        let missing = try await missing()
        guard !missing.isEmpty else { return 0 }
        try await asking { try await admin.create(missing) }
        let left = try await settled()
        guard left.isEmpty else { throw ACLsUnsettled(count: left.count) }
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

/// The brokers took new ACLs and do not have them after some seconds.
struct ACLsUnsettled: Error, CustomStringConvertible {
    var count: Int

    var description: String {
        "the brokers accepted the ACLs, but \(count) are still missing after 10 s; look at the brokers' and the controller's logs, "
            + "and run setup again"
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
