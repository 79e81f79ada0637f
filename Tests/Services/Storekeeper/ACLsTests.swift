import Contracts
import Foundation
import Records
import TestSupport
import Testing

@testable import Devkit
@testable import Operations
@testable import Storekeeper

struct ACLsTests {
    /// What one line of the script allows.
    private struct Grant: Hashable {
        var principal: String
        var operations: Set<String>
        var topic: String?
        var groupPrefix: String?

        /// Reads a line as kafka-acls.sh would.
        init?(_ words: [String]) {
            guard words.starts(with: ["kafka-acls.sh", "--bootstrap-server", "b:9092", "--add"]) else { return nil }
            var options: [String: [String]] = [:]
            let rest = words.dropFirst(4)
            guard rest.count.isMultiple(of: 2) else { return nil }
            for index in stride(from: rest.startIndex, to: rest.endIndex, by: 2) {
                options[rest[index], default: []].append(rest[index + 1])
            }
            guard let principal = options["--allow-principal"]?.first else { return nil }
            self.principal = principal
            operations = Set(options["--operation"] ?? [])
            topic = options["--topic"]?.first
            if options["--resource-pattern-type"] == ["prefixed"] { groupPrefix = options["--group"]?.first }
        }
    }

    private static func grants() async throws -> [Grant] {
        let outcome = await CommandOutcome.of(["acls", "--servers", "b:9092"])
        #expect(outcome.code == 0)
        return try outcome.text.split(separator: "\n").map { line in
            try #require(Grant(line.split(separator: " ").map(String.init)), "\(line)")
        }
    }

    @Test func `Each service may read and write the topics of its arrows, and no others`() async throws {
        let grants = try await Self.grants()
        // The command line and the console read what others read, to say how old what waits is: AccessRuleTests.
        for service in ServiceName.all where service != .storekeeper && service != .console {
            let own = grants.filter { $0.principal == "User:storekeeper-\(service.name)" }
            for (operation, arrows) in [("Read", \Route.readers), ("Write", \Route.writers)] {
                let allowed = Set(own.filter { $0.operations.contains(operation) }.compactMap(\.topic))
                let meant = Set(Topics.all.filter { $0[keyPath: arrows].contains(service) }.map(\.name))
                #expect(allowed == meant, "\(service.name) \(operation)")
            }
        }
        let principals = Set(["setup", "keda"] + ServiceName.all.map(\.name)).map { "User:storekeeper-\($0)" }
        #expect(Set(grants.map(\.principal)) == Set(principals))
    }

    @Test(arguments: ServiceKind.allCases) func `Each service may join the groups in which it reads`(role: ServiceKind)
        async throws
    {
        let own = try await Self.grants().filter { $0.principal == "User:storekeeper-\(role.rawValue)" }
        let prefixes = own.filter { $0.operations.contains("Read") }.compactMap(\.groupPrefix)
        for reading in role.readings {
            #expect(prefixes.contains { reading.group.hasPrefix($0) }, "\(reading.group)")
            #expect(own.contains { $0.topic == reading.route.name && $0.operations.contains("Read") })
        }
        // No service may join another service's group.
        for other in ServiceKind.allCases where other != role {
            for reading in other.readings { #expect(!prefixes.contains { reading.group.hasPrefix($0) }) }
        }
    }

    @Test func `Operator's values reach the script unchanged`() async throws {
        let outcome = await CommandOutcome.of([
            "acls", "--script", "/bin/echo", "--principal-prefix", "User:CN=it's $HOME; ", "--command-config", "a b",
        ])
        let place = try TemporaryDirectory()
        let child = try await Spawner().start(
            "sh", program: "/bin/sh", arguments: ["-c", outcome.text], environment: ["HOME": "/wrong"],
            log: place.path + "/log")
        #expect(await child.ending() == .exit(0))
        let lines = try String(contentsOfFile: child.log, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == outcome.text.split(separator: "\n").count)
        #expect(lines.allSatisfy { $0.contains("--allow-principal User:CN=it's $HOME; ") })
        #expect(lines.allSatisfy { $0.contains("--command-config a b --add") })
    }
}
