import ArgumentParser
import Commands
import Foundation
import Operations
import Storage

/// `storekeeper webhooks list`: all endpoints.
struct WebhooksList: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List webhook endpoints and what waits for them.",
        discussion: "Example: storekeeper webhooks list --json")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run(in context: CommandContext) async throws {
        let store = WebhookEndpointStore(try database.connection(for: "webhooks", in: context))
        let (entries, waiting) = (try await store.all(), try await store.waiting())
        try output.list(
            entries.map { WebhookRow($0, waiting[$0.endpoint.id], at: context.now()) },
            none: "There is no webhook endpoint; create one with storekeeper webhooks create.", in: context)
    }
}

/// `storekeeper webhooks show`: one endpoint.
struct WebhooksShow: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a webhook endpoint and how its receiver answers.",
        discussion: "Example: storekeeper webhooks show 0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0")

    @OptionGroup var options: WebhookOptions

    func run(in context: CommandContext) async throws {
        let connection = try options.database.connection(for: "webhooks", in: context)
        let entry = try await ChangeWebhook.find(options.endpoint, on: connection)
        let waiting = try await WebhookEndpointStore(connection).waiting()[options.endpoint]
        let row = WebhookRow(entry, waiting, at: context.now())
        guard !options.output.json else { return try options.output.print(json: row, in: context) }
        FactLines.of(row.lines).forEach(context.print)
    }
}

/// `storekeeper webhooks deliveries`: the log of an endpoint.
struct WebhooksDeliveries: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "deliveries", abstract: "List deliveries to an endpoint, newest changes first.",
        discussion: """
            Deliveries are kept for 30 days, failed attempts for 14. --sequence lists those of one change.

            Examples:
              storekeeper webhooks deliveries 0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0 --state given-up
              storekeeper webhooks deliveries 0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0 --sequence 48151
            """)

    @OptionGroup var options: WebhookOptions
    @OptionGroup var limit: LimitOptions

    @Option(help: "waiting, delivered or given-up.")
    var state: WebhookLog.State?

    @Option(help: "Failed attempts of the change with this position in the feed of events.")
    var sequence: Int64?

    func run(in context: CommandContext) async throws {
        let connection = try options.database.connection(for: "webhooks", in: context)
        let id = try await ChangeWebhook.find(options.endpoint, on: connection).endpoint.id
        let log = WebhookLog(connection)
        if let sequence {
            let attempts = try await log.attempts(of: id, at: [sequence])
            return try options.output.list(
                attempts.map { AttemptRow($0) }, none: "No failed attempt of \(sequence) is in the log.", in: context)
        }
        let deliveries = try await log.deliveries(of: id, in: state, limit: limit.limit).prefix(limit.limit)
        try options.output.list(deliveries.map { DeliveryRow($0) }, none: "There is no such delivery.", in: context)
    }

    struct DeliveryRow: ListedRow {
        static let columns: [TextTable.Column] = [
            "sequence", "state", "event", "purchase", "applied", "attempts", "status", "replay",
        ]

        var sequence: Int64
        var id: String
        var state: String
        var event: String
        var purchase: String
        var appliedAt: Date
        var attempts: Int
        var firstAttemptAt: Date?
        var finishedAt: Date?
        var status: Int?
        var milliseconds: Int?
        var replay: Int64?

        init(_ delivery: WebhookLog.Delivery) {
            sequence = delivery.sequence
            id = delivery.id
            state = delivery.state.rawValue
            event = delivery.event
            purchase = delivery.originalTransactionId
            appliedAt = delivery.appliedAt
            attempts = Int(delivery.attempts)
            firstAttemptAt = delivery.firstAttemptAt
            finishedAt = delivery.finishedAt
            status = delivery.status.map(Int.init)
            milliseconds = delivery.milliseconds.map(Int.init)
            replay = delivery.replay > 0 ? delivery.replay : nil
        }

        var cells: [String] {
            [
                "\(sequence)", state, event, purchase, appliedAt.text, "\(attempts)", status.map { "\($0)" } ?? "-",
                replay.map { "\($0)" } ?? "-",
            ]
        }
    }

    struct AttemptRow: ListedRow {
        static let columns: [TextTable.Column] = ["time", "status", "ms", "fault", "answer"]

        var time: Date
        var status: Int?
        var milliseconds: Int
        var fault: String?
        var answer: String?

        init(_ attempt: WebhookLog.Attempt) {
            time = attempt.at
            status = attempt.status.map(Int.init)
            milliseconds = Int(attempt.milliseconds)
            fault = attempt.fault
            answer = attempt.answer
        }

        var cells: [String] {
            [
                time.text, status.map { "\($0)" } ?? "-", "\(milliseconds)", fault ?? "-",
                answer.map { String($0.prefix(80)) } ?? "-",
            ]
        }
    }
}

extension WebhookLog.State: ExpressibleByArgument {}
