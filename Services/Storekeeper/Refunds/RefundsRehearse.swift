import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Refunds
import Storage
import StrictJSON

/// `storekeeper refunds rehearse`: a policy over the past.
struct RefundsRehearse: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "rehearse", abstract: "Show what a policy would have said about past refund requests.",
        discussion: """
            With what was known when each was decided, or arrived; transactions and accounts are those of now. Stores and sends \
            nothing.

            Example: storekeeper refunds rehearse policy.json --app com.example.app --from 90d
            """)

    @OptionGroup var options: AppOptions
    @OptionGroup var policy: JSONDocumentFile

    @OptionGroup var times: RefundTimes

    func run(in context: CommandContext) async throws {
        // Its limits are those of a policy that is set.
        let rehearsed = try SetRefundPolicy(try policy.read(), of: options.app, in: options.environment).policy
        rehearsed.warnings.forEach(context.warn)
        let store = RefundOutcomeStore(try options.database.connection(for: "refunds", in: context))
        let time = try times.range(now: context.now())
        var counts: [Row: Int] = [:]
        var last = ""
        while true {
            let past = try await store.past(
                of: options.app, in: options.environment, since: time.lowerBound, after: last, limit: 1000)
            guard let end = past.last else { break }
            last = end.key.transactionId
            for (request, decision) in zip(past, try await store.rehearse(rehearsed, on: past))
            where time.contains(request.requestedAt) {
                counts[Row(request, decision), default: 0] += 1
            }
        }
        let rows = counts.map { row, count in
            var row = row
            row.requests = count
            return row
        }.sorted { ($1.requests, $0.rule, $0.wouldSay, $0.wasSaid) < ($0.requests, $1.rule, $1.wouldSay, $1.wasSaid) }
        try options.output.list(rows, none: "There was no refund request in that time.", in: context)
    }

    struct Row: ListedRow, Hashable {
        static let columns: [TextTable.Column] = ["requests", "rule", "would say", "was said", "Apple"]

        var requests = 0
        var rule: String
        var wouldSay: String
        var wasSaid: String
        var apple: String

        init(_ past: RefundOutcomeStore.Past, _ decision: RefundDecision?) {
            apple = past.outcome ?? "open"
            wasSaid =
                past.answer.map { answer in
                    answer.body.map { Self.preference(Array($0.utf8)) } ?? "nothing (\(answer.withheldBecause ?? "-"))"
                } ?? "nothing"
            switch decision {
            case .answer(let answer, let rule):
                (self.rule, wouldSay) = (rule, Self.preference(answer.body))
            case .withhold(let reason, let rule):
                (self.rule, wouldSay) = (rule ?? "-", "nothing (\(reason.rawValue))")
            case .wait(_, let rule): (self.rule, wouldSay) = (rule, "waits")
            case nil: (self.rule, wouldSay) = ("-", "nothing")
            }
        }

        /// The preference of a body, in either version.
        private static func preference(_ body: [UInt8]) -> String {
            let value = (try? JSONDocument(body))?.root["refundPreference"]
            switch value?.int64 {
            case 1: return "GRANT_FULL"
            case 2: return "DECLINE"
            default: return value?.string ?? "no preference"
            }
        }

        var cells: [String] { ["\(requests)", rule, wouldSay, wasSaid, apple] }
    }
}

/// The requests that a report is about.
struct RefundTimes: ParsableArguments {
    @Option(help: "Only requests at or after this time: \(TimeArgument.help) (default: 90d).")
    var from: TimeArgument?

    @Option(help: "Only requests before this time (default: now).")
    var to: TimeArgument?

    func range(now: Date) throws -> Range<Date> {
        let given = try DateRange(from: from, to: to, now: now)
        let end = given.to ?? max(now, given.from ?? now)
        return (given.from ?? end.addingTimeInterval(-90 * 86_400))..<end
    }
}

/// `storekeeper refunds outcomes`: by rule.
struct RefundsOutcomes: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "outcomes", abstract: "Show by rule what Apple decided about refund requests.",
        discussion: """
            Sums are prices of the transactions. Of decided requests; compare a rule with the hold-out of its requests, if the \
            policy has one.

            Example: storekeeper refunds outcomes --app com.example.app --from 90d
            """)

    @OptionGroup var options: AppOptions

    @OptionGroup var times: RefundTimes

    func run(in context: CommandContext) async throws {
        let store = RefundOutcomeStore(try options.database.connection(for: "refunds", in: context))
        let outcomes = try await store.outcomes(
            of: options.app, in: options.environment, within: try times.range(now: context.now()))
        try options.output.list(
            outcomes.map { Row($0) }, none: "No refund request was decided in that time.", in: context)
    }

    private struct Row: ListedRow {
        static let columns: [TextTable.Column] = [
            "rule", "requests", "sum", "answered", "in full", "prorated", "declined", "reversed", "open", "median time",
        ]

        var rule: String
        var requests: Int64
        var sumMilliunits: Int64
        var currency: String?
        var answered: Int64
        var refundedInFull: Int64
        var refundedProrated: Int64
        var declined: Int64
        var reversed: Int64
        var open: Int64
        var medianSeconds: Double?

        init(_ outcome: RefundOutcomeStore.Outcome) {
            rule = outcome.rule
            requests = outcome.requests
            sumMilliunits = outcome.sum
            currency = outcome.currency
            answered = outcome.answered
            refundedInFull = outcome.refundedInFull
            refundedProrated = outcome.refundedProrated
            declined = outcome.declined
            reversed = outcome.reversed
            open = outcome.open
            medianSeconds = outcome.medianTime
        }

        var cells: [String] {
            [
                rule, "\(requests)", currency.map { "\(sumMilliunits / 1000) \($0)" } ?? "-", "\(answered)",
                "\(refundedInFull)", "\(refundedProrated)", "\(declined)", "\(reversed)", "\(open)",
                medianSeconds.map { TimeSpan.age($0) } ?? "-",
            ]
        }
    }
}
