import ArgumentParser
import Bootstrap
import Chassis
import Commands
import Foundation
import Operations
import Storage
import WebhookDelivery

/// `storekeeper webhooks`: the endpoints of webhooks.
struct WebhooksCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhooks", abstract: "Create, inspect and change webhook endpoints; replay deliveries.",
        discussion: """
            The service webhooks sends each change of a purchase to the endpoints of its environment, signed and in order. \
            Secrets are derived from STOREKEEPER_WEBHOOK_KEY_FILE, which create, secret and rotate need.

            Examples:
              storekeeper webhooks create --environment Production --url https://backend.example.com/hook
              storekeeper webhooks list
              storekeeper webhooks deliveries 0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0 --state waiting
            """,
        subcommands: [
            WebhooksCreate.self, WebhooksList.self, WebhooksShow.self, WebhooksSecret.self, WebhooksRotate.self,
            WebhooksPause.self, WebhooksResume.self, WebhooksRemove.self, WebhooksTest.self, WebhooksDeliveries.self,
            WebhooksReplay.self, WebhooksListen.self,
        ])
}

/// An endpoint by its id.
struct WebhookOptions: ParsableArguments {
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "Id of the endpoint, from storekeeper webhooks list.", transform: Self.id)
    var endpoint: UUID

    private static func id(_ text: String) throws -> UUID {
        guard let id = UUID(uuidString: text) else {
            throw ValidationError("\(text.escaped) is not the id of an endpoint; storekeeper webhooks list shows them")
        }
        return id
    }
}

extension WebhookSecrets {
    /// The secrets of this deployment.
    /// - Throws: `ConfigurationProblems` where the key is missing or unusable.
    init(in context: CommandContext) throws {
        let name = Variable<String>.webhookKeyName
        guard let path = context.environment[name], !path.isEmpty else {
            throw ConfigurationProblems([
                ConfigurationProblem(
                    "\(name) is not set. Secrets of endpoints are derived from it; the service has the same")
            ])
        }
        try self.init(file: path)
    }
}

/// An endpoint as lists show it.
struct WebhookRow: ListedRow {
    static let columns: [TextTable.Column] = [
        "id", "kind", "environment", "state", "url", "waiting", "oldest", "last fault",
    ]

    var id: String
    var kind: String
    var environment: String
    var state: String
    var url: String
    var apps: [String]
    var events: [String]
    var facts: [String]
    var isOrdered: Bool
    var createdAt: Date
    var rotatedAt: Date?
    var failures: Int
    var failingSince: Date?
    var nextRequestAt: Date?
    var pausedUntil: Date?
    var disabledAt: Date?
    var disabledBecause: String?
    var lastFault: String?
    var waiting: Int
    var oldestWaiting: Date?

    init(_ entry: WebhookEndpointStore.Entry, _ waiting: WebhookEndpointStore.Waiting?, at now: Date) {
        let (endpoint, health) = (entry.endpoint, entry.health)
        id = endpoint.id.uuidString.lowercased()
        kind = endpoint.kind.rawValue
        environment = endpoint.environment.rawValue
        state = entry.shownState
        url = endpoint.url
        apps = endpoint.filter.bundleIds
        events = endpoint.filter.events
        facts = endpoint.filter.facts
        isOrdered = endpoint.isOrdered
        createdAt = endpoint.createdAt
        rotatedAt = endpoint.rotatedAt
        failures = Int(health.failures)
        failingSince = health.failingSince
        nextRequestAt = health.isFailing || endpoint.state == .testing ? health.nextProbeAt : nil
        pausedUntil = health.isPaused(at: now) ? health.pausedUntil : nil
        disabledAt = health.disabledAt
        disabledBecause = health.disabledBecause?.rawValue
        lastFault = health.lastFault
        self.waiting = Int(waiting?.count ?? 0)
        oldestWaiting = waiting?.oldest
    }

    var cells: [String] {
        [id, kind, environment, state, url, "\(waiting)", oldestWaiting?.text ?? "-", lastFault ?? "-"]
    }

    var lines: [Fact] {
        func all(_ list: [String]) -> String { list.isEmpty ? "all" : list.joined(separator: ", ") }
        return [
            ("id", id), ("kind", kind), ("environment", environment), ("state", state), ("url", url),
            ("apps", all(apps)),
            ("events", all(events)), ("facts", all(facts)),
            (
                "order",
                isOrdered ? "the events of a purchase wait for one another" : "each event waits for itself alone"
            ),
            ("created", createdAt.text), ("rotated", rotatedAt?.text),
            ("failures", failures > 0 ? "\(failures) in a row" : nil),
            ("since", failingSince?.text), ("next request", nextRequestAt?.text), ("paused until", pausedUntil?.text),
            ("disabled", disabledAt.map { "\($0.text), \(disabledBecause ?? "")" }), ("last fault", lastFault),
            (
                "waiting",
                waiting > 0
                    ? "events of \(waiting.counted("purchase")), the oldest of \(oldestWaiting?.text ?? "-")" : "none"
            ),
        ]
    }
}
