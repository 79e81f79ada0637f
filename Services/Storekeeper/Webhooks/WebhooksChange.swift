import ArgumentParser
import Commands
import Foundation
import Operations
import Storage
import WebhookDelivery

/// What commands that change an endpoint have in common: plan, confirmation, change.
private struct EndpointChange {
    let change: ChangeWebhook.Change
    let options: WebhookOptions
    let audit: AuditOptions
    let isDry: Bool
    let isConfirmed: Bool

    /// - Returns: false where it was a dry run.
    func run(done: String, in context: CommandContext) async throws -> Bool {
        let connection = try options.database.connection(for: "webhooks", in: context)
        let operation = try await ChangeWebhook(change, of: options.endpoint, on: connection)
        guard !isDry else {
            try operation.plan.show(options.output, in: context)
            return false
        }
        if let doubt = operation.plan.doubt, !isConfirmed {
            try await confirm(operation.plan.effects + [doubt], otherwise: "nothing was changed", in: context)
        }
        try await operation.perform(on: connection, by: try audit.performer(in: context))
        guard !options.output.json else {
            try options.output.print(json: ["changed": options.endpoint.uuidString.lowercased()], in: context)
            return true
        }
        context.print(done)
        return true
    }
}

/// Asks at a terminal, and elsewhere for `--yes`.
/// - Parameter refusal: a clause, after an answer of no.
private func confirm(_ effects: [String], otherwise refusal: String, in context: CommandContext) async throws {
    let question = effects.joined(separator: " ")
    guard let confirm = context.confirm else { throw CommandError("\(question) Add --yes to do it", .unconfirmed) }
    guard await confirm("\(question) Continue?") else { throw CommandError(refusal, .unconfirmed) }
}

/// `storekeeper webhooks pause`: stops sending.
struct WebhooksPause: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Stop sending to an endpoint; changes wait.",
        discussion: "Example: storekeeper webhooks pause 0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0")

    @OptionGroup var options: WebhookOptions
    @OptionGroup var audit: AuditOptions

    @Flag(help: "Print what would happen; change nothing.")
    var dryRun = false

    func run(in context: CommandContext) async throws {
        _ = try await EndpointChange(change: .pause, options: options, audit: audit, isDry: dryRun, isConfirmed: true)
            .run(done: "Paused; requests that are under way end within 15 seconds.", in: context)
    }
}

/// `storekeeper webhooks resume`: sends again.
struct WebhooksResume: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Send to a paused or disabled endpoint again.",
        discussion: """
            The receiver is tested first. Then what waits is sent, in order; with --from-now it is given up, and can be replayed.

            Example: storekeeper webhooks resume 0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0
            """)

    @OptionGroup var options: WebhookOptions
    @OptionGroup var audit: AuditOptions

    @Flag(help: "Give up what waits.")
    var fromNow = false

    @Flag(help: "Do it without asking.")
    var yes = false

    @Flag(help: "Print what would happen; change nothing.")
    var dryRun = false

    func run(in context: CommandContext) async throws {
        _ = try await EndpointChange(
            change: .resume(fromNow: fromNow), options: options, audit: audit, isDry: dryRun, isConfirmed: yes
        ).run(done: "The service tests the receiver and then sends.", in: context)
    }
}

/// `storekeeper webhooks remove`: deletes an endpoint.
struct WebhooksRemove: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Delete an endpoint and what waits for it.",
        discussion: "Example: storekeeper webhooks remove 0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0 --yes")

    @OptionGroup var options: WebhookOptions
    @OptionGroup var audit: AuditOptions

    @Flag(help: "Do it without asking.")
    var yes = false

    @Flag(help: "Print what would happen; change nothing.")
    var dryRun = false

    func run(in context: CommandContext) async throws {
        _ = try await EndpointChange(change: .remove, options: options, audit: audit, isDry: dryRun, isConfirmed: yes)
            .run(done: "Deleted.", in: context)
    }
}

/// `storekeeper webhooks test`: sends `webhook.test` and shows the answer.
struct WebhooksTest: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Send webhook.test to an endpoint and show the answer.",
        discussion: """
            The service sends it, within seconds. Exit codes: 0 answered with 2xx; 1 another answer or none, or no service \
            sent it within --timeout.

            Example: storekeeper webhooks test 0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0
            """)

    @OptionGroup var options: WebhookOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "Seconds to wait for the answer.")
    var timeout = 30

    func validate() throws {
        guard 1...600 ~= timeout else { throw ValidationError("--timeout \(timeout) is out of range: 1 to 600") }
    }

    func run(in context: CommandContext) async throws {
        let connection = try options.database.connection(for: "webhooks", in: context)
        let operation = try await ChangeWebhook(.test, of: options.endpoint, on: connection)
        let performer = try audit.performer(in: context)
        let log = WebhookLog(connection)
        // By the service's clock, which may differ from this one.
        let last = try await log.tests(of: options.endpoint, since: .distantPast).last?.at ?? .distantPast
        try await operation.perform(on: connection, by: performer)
        for _ in 0..<timeout * 4 {
            if let attempt = try await log.tests(of: options.endpoint, since: last).first(where: { $0.at > last }) {
                let row = WebhooksDeliveries.AttemptRow(attempt)
                try options.output.list([row], none: "", in: context)
                if let fault = attempt.fault { throw CommandError("the test failed: \(fault)") }
                return
            }
            try await Task.sleep(for: .milliseconds(250))
        }
        throw CommandError(
            "no service sent the test within \(timeout) s; storekeeper status shows whether webhooks runs")
    }
}

/// `storekeeper webhooks replay`: sends changes again.
struct WebhooksReplay: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Send changes to an endpoint again, under the same ids.",
        discussion: """
            Of any age, as far as the endpoint's filter admits them; of a time, those that --app, --event and --fact admit, too. \
            Counts them first and asks. The requests have the header storekeeper-replay.

            Examples:
              storekeeper webhooks replay 0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0 --from 2h --to 1h --dry-run
              storekeeper webhooks replay 0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0 --from 3d --event EXPIRED --dry-run
              storekeeper webhooks replay 0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0 --purchase 2000000123456789 --yes
              storekeeper webhooks replay 0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0 --sequence 48151
            """)

    @OptionGroup var options: WebhookOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "Only this change, by its position in the feed of events.")
    var sequence: Int64?

    @Option(help: "All changes of this purchase, by its originalTransactionId.")
    var purchase: String?

    @Option(help: "Changes applied at or after this time: \(TimeArgument.help).")
    var from: TimeArgument?

    @Option(help: "Changes applied before this time (default: now).")
    var to: TimeArgument?

    @OptionGroup var filter: WebhookFilterOptions

    @Flag(help: "Do it without asking.")
    var yes = false

    @Flag(help: "Print how many would be sent; change nothing.")
    var dryRun = false

    func validate() throws {
        let given = [sequence != nil, purchase != nil, from != nil || to != nil].count { $0 }
        guard given == 1 else {
            throw ValidationError("name the changes by one of --sequence, --purchase, and --from with --to")
        }
        guard to == nil || from != nil else { throw ValidationError("--to needs --from") }
        guard from != nil || filter.filter == WebhookFilter() else {
            throw ValidationError("--app, --event and --fact need --from")
        }
    }

    func run(in context: CommandContext) async throws {
        let connection = try options.database.connection(for: "webhooks", in: context)
        let operation = try await ReplayWebhooks(
            try selection(now: context.now()), to: options.endpoint, on: connection)
        filter.warn(of: operation.kind, in: context)
        guard !dryRun else { return try operation.plan.show(options.output, in: context) }
        guard operation.plan.isEffective else { throw CommandError("no such change is one that the endpoint gets") }
        if !yes {
            try await confirm(operation.plan.effects, otherwise: "nothing was sent", in: context)
        }
        let count = try await operation.perform(on: connection, by: try audit.performer(in: context))
        guard !options.output.json else { return try options.output.print(json: ["replayed": count], in: context) }
        context.print("\(count.counted("change")) enqueued; storekeeper webhooks show follows what waits.")
    }

    private func selection(now: Date) throws -> WebhookReplayStore.Selection {
        if let sequence { return .one(sequence) }
        if let purchase { return .purchase(purchase) }
        let range = try DateRange(from: from, to: to ?? .at(now), now: now)
        return .time((range.from ?? .distantPast)..<(range.to ?? now), filter.filter)
    }
}
