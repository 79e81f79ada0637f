import ArgumentParser
import Commands
import Contracts
import Storage
import Subscriptions
import WebhookDelivery

/// Which changes, or notifications, an endpoint gets, or gets again.
struct WebhookFilterOptions: ParsableArguments {
    @Option(name: .customLong("app"), help: "Bundle id of an app; repeat for several (default: all apps).")
    var apps: [String] = []

    @Option(
        name: .customLong("event"),
        help: "Apple's type, or TYPE/SUBTYPE; repeat for several (default: all events).")
    var events: [String] = []

    @Option(
        name: .customLong("fact"),
        help: "Send only changes of this fact, such as accessUntil; repeat for several (default: all changes).")
    var facts: [String] = []

    var filter: WebhookFilter {
        WebhookFilter(bundleIds: Set(apps).sorted(), events: Set(events).sorted(), facts: Set(facts).sorted())
    }

    /// Events and facts that no change has are mostly typos: an endpoint would answer its test, and get nothing.
    func warn(of kind: WebhookEndpoint.Kind, in context: CommandContext) {
        let parts = SignedPart.allCases.filter { $0 != .appTransaction }.map(\.rawValue)
        let own = kind == .changes ? TimelineRow.withoutNotification + parts : []
        for event in events where !own.contains(event) {
            KnownTypeWarning.warn(about: String(event.prefix { $0 != "/" }), in: context)
        }
        let known =
            Subscriptions.Fact.allCases.map(\.rawValue) + EarlierTransaction.Fact.allCases.map(\.rawValue)
            + [FactChange.accessUntil, FactChange.account, FactChange.refundRequest, FactChange.sharedAccount]
        for fact in facts where !known.contains(fact) {
            context.warn("No change has the fact \(fact.escaped); there are \(known.sorted().joined(separator: ", ")).")
        }
    }
}
