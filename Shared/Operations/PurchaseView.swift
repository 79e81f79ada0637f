import Postgres
import Storage
import Subscriptions

import struct Foundation.Date

/// One purchase at a moment: what it gives and why, what is odd or missing, and the last refresh.
package struct PurchaseView: Sendable {
    package let subscription: Subscription
    package let moment: Date
    package let periods: [AccessStore.Period]
    package let anomalies: [Anomaly]
    package let gaps: [LifecycleGap]
    /// What it cost at first, costs now and will cost.
    package let prices: PurchasePrices
    /// What the customer paid for it and got back, for each currency.
    package let paid: [PaidTotal]
    /// What its consumables gave; empty for a subscription.
    package let consumables: ConsumableView
    /// Time in which nothing was paid, between paid periods.
    package let unpaidSpans: [UnpaidSpan]
    /// The last request to ask Apple again.
    package let refresh: RefreshStore.Refresh?

    package init(_ subscription: Subscription, at moment: Date, on connection: PostgresConnection) async throws {
        let key = subscription.key
        self.subscription = subscription
        self.moment = moment
        periods = try await AccessStore(connection).periods(of: key)
        anomalies = try await AnomalyStore(connection).anomalies(of: key)
        gaps = try await LifecycleGapStore(connection).gaps(of: key)
        let transactions = try await TransactionStore(connection).versions(of: key)
        prices = PurchasePrices(subscription, transactions.map(\.facts))
        paid = PaidTotal.all(of: transactions.map(\.facts))
        consumables = try await ConsumableView(transactions.map(\.facts), in: key.environment, on: connection)
        unpaidSpans = UnpaidSpan.spans(
            between: transactions, renewal: subscription.renewal, early: BillingRules.earlyRenewal(in: key.environment))
        refresh = try await RefreshStore(connection).last(of: key)
    }

    package var state: SubscriptionState { subscription.state(at: moment, in: periods) }
    /// What StoreKit tells the customer in the app.
    package var messages: [StoreKitMessage] { StoreKitMessage.due(subscription, state) }
    /// The period that gives access at the moment.
    package var current: AccessStore.Period? { periods.first { $0.contains(moment) } }
}
