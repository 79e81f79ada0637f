import Contracts
import Records
import Testing

@Suite struct AccessRuleTests {
    private static func topics(of service: String, for operation: AccessRule.Operation) -> Set<String> {
        Set(
            AccessRule.all.compactMap { rule in
                guard rule.service == service, rule.operations.contains(operation),
                    case .topic(let name) = rule.resource
                else { return nil }
                return name
            })
    }

    @Test func `Access rules let ingest, which the internet reaches, write two topics and read none`() {
        #expect(Self.topics(of: "ingest", for: .write) == [Topics.received.name, Topics.heartbeats.name])
        #expect(Self.topics(of: "ingest", for: .read).isEmpty)
        #expect(Self.topics(of: "ingest", for: .describeConfigs) == [Topics.received.name])
        #expect(
            !AccessRule.all.contains { rule in
                if case .groups = rule.resource { rule.service == "ingest" } else { false }
            })
    }

    @Test func `Access rules let only setup create topics, and setup read none`() {
        #expect(Self.topics(of: "setup", for: .create) == Set(Topics.all.map(\.name)))
        #expect(Self.topics(of: "setup", for: .read).isEmpty)
        for service in ServiceName.all { #expect(Self.topics(of: service.name, for: .create).isEmpty) }
    }

    @Test(arguments: ["storekeeper", "console"])
    func `Access rules let who shows the lag read every topic with a reader, for the age of waiting records`(
        service: String
    ) {
        let readable = Self.topics(of: service, for: .read)
        #expect(readable.isSuperset(of: [Topics.unique.name, Topics.historyPages.name, Topics.changed.name]))
    }

    @Test func `Access rules allow every connection of the topics, and no other`() {
        for service in ServiceName.all {
            let reads = Set(
                Topics.all.filter { route in
                    service == .storekeeper || service == .console
                        ? !route.readers.isEmpty : route.readers.contains(service)
                }.map(\.name))
            let writes = Set(Topics.all.filter { $0.writers.contains(service) }.map(\.name))
            #expect(Self.topics(of: service.name, for: .read) == reads)
            #expect(Self.topics(of: service.name, for: .write) == writes)
        }
    }

    @Test func `Access rules let the command line commit offsets of every group, and the console none`() {
        let groups = AccessRule.Resource.groups(prefix: "storekeeper.")
        let ofGroups = AccessRule.all.filter { $0.resource == groups }
        #expect(ofGroups.filter { $0.operations.contains(.read) }.map(\.service) == ["storekeeper"])
    }

    @Test func `Access rules let a reader join the groups with its own name`() {
        let rule = AccessRule(
            service: "verifier", resource: .groups(prefix: ServiceName.verifier.group), operations: [.read])
        #expect(AccessRule.all.contains(rule))
    }
}
