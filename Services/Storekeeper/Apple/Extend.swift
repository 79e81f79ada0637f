import AppStore
import ArgumentParser
import Foundation
import Storage

/// `storekeeper extend`: gives one subscriber more days.
struct Extend: Verb {
    static let configuration = CommandConfiguration(
        commandName: "extend", abstract: "Give one subscriber more days before the next renewal.",
        discussion: """
            Apple allows it twice within 365 days, for up to 90 days each. With a database to write to, the trail keeps \
            who did it and why. Exits 1 where Apple refuses, with Apple's reason.
            """)

    /// Why, in words for Apple's numbers.
    enum Reason: String, CaseIterable, ExpressibleByArgument {
        case undeclared
        case satisfaction
        case other
        case outage

        var code: ExtendReasonCode {
            switch self {
            case .undeclared: .undeclared
            case .satisfaction: .customerSatisfaction
            case .other: .other
            case .outage: .serviceIssueOrOutage
            }
        }
    }

    @OptionGroup var apple: AppleOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var hand: HandOptions

    @Argument(help: "The subscription's original transaction id.")
    var purchase: String

    @Option(help: "How many days, 1 to 90.")
    var days: Int64

    @Option(help: "Why, for Apple.")
    var reason: Reason

    @Option(help: "Our name of this request, the same if it is repeated. Default: a new one.")
    var requestId: String?

    func validate() throws {
        guard (1...90).contains(days) else { throw ValidationError("--days must lie between 1 and 90") }
    }

    func run(in surroundings: Surroundings) async throws {
        let request = ExtendRenewalDateRequest(
            extendByDays: days, extendReasonCode: reason.code,
            requestIdentifier: requestId ?? surroundings.id().uuidString.lowercased())
        let answer = try await apple.withClient(in: surroundings) { client in
            try await client.extendRenewalDate(of: purchase, request)
        }
        if database.isGiven(in: surroundings) {
            let hand = hand.hand(in: surroundings)
            let store = OperatorActionStore(try database.connection(for: "extend", in: surroundings))
            try await store.record([
                OperatorAction(
                    actedAt: surroundings.now(), actor: hand.actor, action: "extend",
                    subject: "purchase \(purchase) by \(days) days", note: hand.note)
            ])
        }
        if output.json {
            surroundings.print(PrettyJSON(answer.json)?.text ?? "{}")
        } else {
            surroundings.print(
                answer.success == true
                    ? "Extended; the subscription now renews on \(answer.effectiveDate?.text ?? "a later date")."
                    : "Apple did not extend it.")
        }
        if answer.success != true { throw ExitCode.failure }
    }
}
