import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Refunds
import Storage

/// `storekeeper refunds`: requests for refunds, the answers to them, and the policy that makes them.
struct RefundsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refunds", abstract: "Show and answer refund requests; set the policy for them.",
        discussion: """
            Apple asks about a refund by CONSUMPTION_REQUEST and takes an answer for 12 hours. The scheduler answers by the \
            policy of the app, and only with the customer's consent.

            Examples:
              storekeeper refunds policy set policy.json --app com.example.app --environment Production --dry-run
              storekeeper refunds list --state open
              storekeeper refunds outcomes --app com.example.app --environment Production
            """,
        subcommands: [
            RefundsList.self, RefundsShow.self, RefundsAnswer.self, RefundsPolicyCommand.self, RefundsRehearse.self,
            RefundsOutcomes.self,
        ])
}

/// A transaction of one environment.
struct RefundOptions: ParsableArguments {
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "Environment of the App Store (default: Production).")
    var environment = StoreEnvironment.production

    @Argument(help: "Id of the transaction, from storekeeper refunds list.")
    var transaction: String

    var key: RefundKey { RefundKey(environment, transaction) }
}

/// A request as lists show it.
struct RefundRow: ListedRow {
    static let columns: [TextTable.Column] = [
        "transaction", "environment", "app", "state", "requested", "answer until", "rule", "Apple", "product",
    ]

    var transaction: String
    var purchase: String
    var environment: String
    var app: String
    var state: String
    var requestedAt: Date
    var deadline: Date
    var reason: String?
    var outcome: String?
    var outcomeAt: Date?
    var product: String?
    var price: Int64?
    var currency: String?
    var answer: RefundAnswerRow?

    init(_ entry: RefundRequestPages.Entry) {
        transaction = entry.key.transactionId
        purchase = entry.originalTransactionId
        environment = entry.key.environment.rawValue
        app = entry.bundleId
        state = entry.state.rawValue
        requestedAt = entry.requestedAt
        deadline = entry.deadline
        reason = entry.reason
        outcome = entry.outcome
        outcomeAt = entry.outcomeAt
        product = entry.productId
        price = entry.priceMilliunits
        currency = entry.currency
        answer = entry.answer.map { RefundAnswerRow($0) }
    }

    var cells: [String] {
        [
            transaction, environment, app, state, requestedAt.text, deadline.text, answer?.said ?? "-", outcome ?? "-",
            product ?? "-",
        ]
    }
}

/// A decision as lists show it.
struct RefundAnswerRow: ListedRow {
    static let columns: [TextTable.Column] = ["decided", "by", "rule", "says", "attempts", "sent", "failed"]

    var decidedAt: Date
    var decidedBy: String
    var policyVersion: Int64?
    var rule: String?
    var body: String?
    var adjustments: [String]
    var withheldBecause: String?
    var attempts: Int64
    var sentAt: Date?
    var failedWith: String?

    init(_ answer: RefundRequestPages.Answer) {
        decidedAt = answer.decidedAt
        decidedBy = answer.decidedBy
        policyVersion = answer.policyVersion
        rule = answer.rule
        body = answer.body
        adjustments = answer.adjustments
        withheldBecause = answer.withheldBecause
        attempts = answer.attempts
        sentAt = answer.sentAt
        failedWith = answer.failedWith
    }

    /// The rule, or who or what decided instead.
    var said: String { rule ?? (decidedBy == "policy" ? withheldBecause ?? "-" : "by \(decidedBy)") }

    var cells: [String] {
        [
            decidedAt.text, decidedBy, rule ?? "-", body ?? "nothing (\(withheldBecause ?? "-"))", "\(attempts)",
            sentAt?.text ?? "-", failedWith ?? "-",
        ]
    }
}

/// `storekeeper refunds list`: requests, the newest first.
struct RefundsList: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List refund requests, newest first.",
        discussion: """
            States: \(RefundState.allCases.map(\.rawValue).joined(separator: ", ")).

            Example: storekeeper refunds list --state missed
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var limit: LimitOptions

    @Option(help: "Only requests in this state.")
    var state: RefundState?

    @Option(help: "Bundle id of the app (default: all).")
    var app: String?

    @Option(help: "Environment of the App Store (default: both).")
    var environment: StoreEnvironment?

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "refunds", in: context)
        var entries: [RefundRequestPages.Entry] = []
        var position: RefundRequestPages.Position?
        repeat {
            let found = try await RefundRequestPages(connection).search(
                in: environment, of: app.map { [$0] }, state: state, after: position,
                limit: limit.limit - entries.count, at: context.now())
            entries += found.entries
            position = found.next
        } while position != nil && entries.count < limit.limit
        try output.list(entries.map { RefundRow($0) }, none: "There is no such refund request.", in: context)
    }
}

extension RefundState: ExpressibleByArgument {}

/// `storekeeper refunds show`: one request with its decisions.
struct RefundsShow: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a refund request, its answers, and what the policy would say.",
        discussion: "Example: storekeeper refunds show 2000000123456789")

    @OptionGroup var options: RefundOptions

    func run(in context: CommandContext) async throws {
        let connection = try options.database.connection(for: "refunds", in: context)
        let pages = RefundRequestPages(connection)
        guard let entry = try await pages.find(options.key, at: context.now()) else {
            throw CommandError(
                "no refund of transaction \(options.transaction.escaped) was requested in \(options.environment.rawValue): "
                    + "storekeeper refunds list shows all")
        }
        let answers = try await pages.answers(options.key).map { RefundAnswerRow($0) }
        let preview = try await pages.previews([entry], at: context.now())[options.key]
        let transaction = try await PurchasePages(connection).transaction(
            options.key.transactionId, in: options.key.environment)
        let bought = try await ConsumableView(
            (transaction?.version.facts).map { [$0] } ?? [], in: options.key.environment, on: connection)
        let row = RefundRow(entry)
        guard !options.output.json else {
            return try options.output.print(
                json: Shown(
                    request: row, decisions: answers, preview: preview?.text, bought: bought.credits.first,
                    balances: bought.balances), in: context)
        }
        let facts: [Fact] = [
            ("transaction", row.transaction), ("purchase", row.purchase), ("app", "\(row.app) \(row.environment)"),
            ("product", row.product), ("price", entry.price), ("bought", bought.credits.first), ("state", row.state),
            ("requested", row.requestedAt.text),
            ("reason", row.reason), ("answer until", row.deadline.text),
            ("Apple", row.outcome.map { "\($0), \(row.outcomeAt?.text ?? "")" }), ("would say", preview?.text),
        ]
        FactLines.of(facts + bought.balances.map { ("balance", $0) }).forEach(context.print)
        if !answers.isEmpty {
            context.print("")
            try options.output.list(answers, none: "", in: context)
            for adjustment in answers.flatMap(\.adjustments) { context.print("changed: \(adjustment.escaped)") }
        }
    }

    private struct Shown: Encodable {
        var request: RefundRow
        var decisions: [RefundAnswerRow]
        var preview: String?
        /// How many of a consumable were bought, and what was credited for them.
        var bought: String?
        /// What the account has left of such credits.
        var balances: [String]
    }
}

/// `storekeeper refunds answer`: by hand.
struct RefundsAnswer: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "answer", abstract: "Answer a refund request in place of the policy.",
        discussion: """
            Until an answer is decided, and only with the customer's consent. The scheduler sends it within seconds. What is not \
            given is taken from the newest report of usage.

            Example: storekeeper refunds answer 2000000123456789 --preference GRANT_FULL --dry-run
            """)

    @OptionGroup var options: RefundOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "\(RefundPreference.allCases.map(\.rawValue).joined(separator: ", ")) (default: none).")
    var preference: RefundPreference?

    @Option(help: "How much was used, in thousandths of a per cent: 80000 is 80 %.")
    var percentage: Int64?

    @Option(help: "\(DeliveryStatus.allCases.map(\.rawValue).joined(separator: ", ")).")
    var delivery: DeliveryStatus?

    @Flag(help: "Print what Apple would be told; change nothing.")
    var dryRun = false

    func run(in context: CommandContext) async throws {
        let connection = try options.database.connection(for: "refunds", in: context)
        let usage =
            percentage == nil && delivery == nil
            ? nil : RefundSubject.UsageReport(percentage: percentage, deliveryStatus: delivery)
        let operation: AnswerRefund
        do { operation = try AnswerRefund(options.key, preference: preference, usage: usage) } catch {
            throw ValidationError("\(error)")
        }
        let performer = try audit.performer(in: context)
        do {
            guard !dryRun else {
                return try await operation.plan(on: connection, by: performer).show(options.output, in: context)
            }
            let answer = try await operation.perform(on: connection, by: performer)
            guard !options.output.json else {
                return try options.output.print(
                    json: ["body": String(decoding: answer.body, as: UTF8.self)], in: context)
            }
            context.print("The scheduler tells Apple: \(String(decoding: answer.body, as: UTF8.self))")
            for adjustment in answer.adjustments { context.print("changed: \(adjustment)") }
        } catch let refusal as AnswerRefund.Refusal {
            throw CommandError("\(refusal)")
        }
    }
}

extension RefundPreference: ExpressibleByArgument {}
extension DeliveryStatus: ExpressibleByArgument {}
