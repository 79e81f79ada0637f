import AppStore
import Contracts
import Operations
import Postgres
import Storage
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// One purchase: what it gives now and why, over time, what happened, and what Apple said.
struct PurchaseScreen: Sendable {
    struct Period: Sendable {
        let product: String
        let from: Moment
        let until: Moment?
        let why: String
        let transaction: String?
        let notification: String?
        let isNow: Bool
    }

    struct Step: Sendable {
        let event: String
        let apple: Moment
        let ours: Moment
        let changes: [String]
        let access: String
        let notification: String
    }

    struct Notification: Sendable {
        let type: String
        let subtype: String?
        let signed: Moment?
        let received: Moment
        let source: String
        let isStale: Bool
        /// How late it was delivered.
        let late: String?
        let address: String
    }

    struct Fact: Sendable {
        let name: String
        let value: String
    }

    struct Page: Sendable {
        let sentence: String
        let state: String
        let hasAccess: Bool
        let id: String
        let app: String
        let environment: String
        let account: String?
        let accountAddress: String?
        /// What a customer asks about first: what a consumable gave, what is owed, what the app tells.
        let first: [Fact]
        let hasFirst: Bool
        let bar: AccessBar?
        let periods: [Period]
        let steps: [Step]
        let notifications: [Notification]
        let refunds: [RefundScreens.Row]
        let hasRefunds: Bool
        let facts: [Fact]
        let odd: [String]
        let hasOdd: Bool
        let isCut: Bool
        /// Of the last refresh by hand.
        let refreshed: String?
        let forms: [ActionForm]
    }

    private static let limit = 200

    let console: Console

    /// `GET /purchases/{environment}/{id}`
    func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        try await page(
            SubscriptionKey(
                environment: try request.environment(), originalTransactionId: request.parameters["id"] ?? ""),
            request)
    }

    /// `GET /purchases/by/{uuid}`: without the purchase's id in the address.
    func showByNotification(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let uuid = try request.uuid("uuid")
        let line = try await console.database.withConnection { try await NotificationStore($0).line(uuid) }
        guard let line, let id = line.originalTransactionId else {
            throw Fault.notFound("No purchase is known by this notification.")
        }
        return try await page(SubscriptionKey(environment: line.environment, originalTransactionId: id), request)
    }

    /// `POST /purchases/{environment}/{id}/refresh`
    func refresh(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let key = SubscriptionKey(
            environment: try request.environment(), originalTransactionId: request.parameters["id"] ?? "")
        let performer = try console.performer(request)
        return try await console.database.withConnection { connection in
            guard let subscription = try await SubscriptionStore(connection).find(key) else {
                throw Fault.notFound("No such purchase is known.")
            }
            let operation = RefreshPurchase(subscription)
            if request.isDryRun { return console.page(of: operation.plan, request) }
            try await operation.perform(on: connection, id: console.newId(), by: performer)
            return .redirect(
                to:
                    "/purchases/\(key.environment.rawValue)/\(FormFields.encode(key.originalTransactionId))?done=refresh"
            )
        }
    }

    private func page(_ key: SubscriptionKey, _ request: ConsoleRequest) async throws -> ConsoleResponse {
        let now = console.clock.now()
        let (view, timeline, lines, refunds, commerce) = try await console.database.withConnection { connection in
            guard let subscription = try await SubscriptionStore(connection).find(key) else {
                throw Fault.notFound("No such purchase is known.")
            }
            return (
                try await PurchaseView(subscription, at: now, on: connection),
                try await PurchasePages(connection).timeline(of: key, after: 0, limit: Self.limit + 1),
                try await PurchasePages(connection).notifications(of: key, after: nil, limit: Self.limit + 1),
                try await RefundRequestPages(connection).page(
                    in: key.environment, purchase: key.originalTransactionId, limit: Self.limit, at: now),
                try await AdvancedCommerceInfo.lines(of: subscription, on: connection)
            )
        }
        let (subscription, periods) = (view.subscription, view.periods)
        let masking = request.masking
        let account = lines.isEmpty ? nil : subscription.transaction?.appAccountToken
        let first = Self.first(view)
        let odd = view.anomalies.map(\.sentence) + view.gaps.map(\.sentence)
        return console.page(
            "purchase", "Purchase \(masking.id(key.originalTransactionId))",
            Page(
                sentence: Words.access(view), state: Words.state(view.state), hasAccess: view.current != nil,
                id: masking.id(key.originalTransactionId),
                app: subscription.bundleId, environment: key.environment.rawValue, account: masking.id(account),
                accountAddress: masking.account(account.flatMap { UUID(uuidString: $0) }, in: key.environment),
                first: first, hasFirst: !first.isEmpty, bar: AccessBar(periods, at: now),
                periods: periods.reversed().map { Self.period($0, masking, now) },
                steps: timeline.prefix(Self.limit).reversed().map { Self.step($0, periods, masking, now) },
                notifications: lines.prefix(Self.limit).reversed().map { Self.notification($0, now) },
                refunds: refunds.map { RefundScreens.Row($0, masking, now) }, hasRefunds: !refunds.isEmpty,
                facts: Self.facts(view, masking, now)
                    + (masking.isOn ? [] : commerce.map { Fact(name: "Advanced Commerce", value: $0) }), odd: odd,
                hasOdd: !odd.isEmpty,
                isCut: timeline.count > Self.limit || lines.count > Self.limit,
                refreshed: view.refresh.map { Self.refreshed($0, now) },
                forms: masking.isOn
                    ? []
                    : [Self.refreshForm(subscription, request)]
                        + (ExtensionAction(console: console).form(subscription, request).map { [$0] } ?? [])),
            request)
    }

    private static func period(_ period: AccessStore.Period, _ masking: Masking, _ now: Date) -> Period {
        Period(
            product: period.productId, from: Moment(period.startsAt, now: now),
            until: period.endsAt.map { Moment($0, now: now) }, why: Words.reason(period.reason),
            transaction: masking.id(period.transactionId),
            notification: period.notificationUUID.map { "/notifications/\($0.uuidString.lowercased())" },
            isNow: period.contains(now))
    }

    /// - Parameter periods: of the purchase. What the row says about access is of Apple's date: the state when the notification was
    ///   applied, perhaps much later, says nothing about it.
    private static func step(
        _ row: TimelineRow, _ periods: [AccessStore.Period], _ masking: Masking, _ now: Date
    ) -> Step {
        let until =
            periods.first { $0.contains(row.occurredAt) }.map { period in
                period.until.map { "access until \(Moment($0, now: now).text)" } ?? "access without an end"
            } ?? "no access"
        return Step(
            event: Words.event(row.event), apple: Moment(row.occurredAt, now: now),
            ours: Moment(row.appliedAt, now: now),
            changes: row.changes.map { Words.change($0, isMasked: masking.isOn) },
            access: until, notification: "/notifications/\(row.notificationUUID.uuidString.lowercased())")
    }

    static func notification(_ line: LedgerLine, _ now: Date) -> Notification {
        Notification(
            type: line.notificationType, subtype: line.subtype, signed: line.signedDate.map { Moment($0, now: now) },
            received: Moment(line.receivedAt, now: now), source: line.source, isStale: !line.hasAdvanced,
            late: line.isLate ? TimeSpan.age(line.deliverySeconds ?? 0) : nil,
            address: "/notifications/\(line.notificationUUID.uuidString.lowercased())")
    }

    private static func first(_ view: PurchaseView) -> [Fact] {
        let (transaction, renewal) = (view.subscription.transaction, view.subscription.renewal)
        let commitment = Commitment(transaction: transaction, renewal: renewal).map { $0.text(transaction, renewal) }
        return view.consumables.credits.map { Fact(name: "bought", value: $0) }
            + view.consumables.balances.map { Fact(name: "balance of the account", value: $0) }
            + (commitment.map { [Fact(name: "commitment", value: $0)] } ?? [])
            + view.messages.map { Fact(name: "message in the app", value: $0.sentence) }
    }

    private static func facts(_ view: PurchaseView, _ masking: Masking, _ now: Date) -> [Fact] {
        let subscription = view.subscription
        func fact(_ name: String, _ value: String?) -> Fact? { value.map { Fact(name: name, value: $0) } }
        func date(_ name: String, _ date: Date?) -> Fact? { fact(name, date.map { Moment($0, now: now).text }) }
        let (transaction, renewal) = (subscription.transaction, subscription.renewal)
        return [
            fact("product", transaction?.productId), fact("kind", transaction?.productType),
            fact("Apple's status", subscription.status.map { Words.status($0) }),
            fact("current transaction", masking.id(transaction?.transactionId)),
            fact("quantity", transaction?.quantity.flatMap { $0 == 1 ? nil : "\($0)" }),
            fact("refunded seats", transaction?.revokedSeatQuantity.map { "\($0)" }),
            date("bought", transaction?.purchaseDate), date("paid until", transaction?.expiresDate),
            date("refunded or revoked", transaction?.revocationDate),
            fact("refunded share", transaction?.revocationPercentage.map { Self.percent($0) }),
            fact("ownership", transaction?.ownership.map { Words.ownership($0) }),
            fact("offer", transaction.flatMap { Words.offer($0) }), fact("storefront", transaction?.storefront),
            fact(
                "price", transaction?.priceMilliunits.map { Figures.amount($0, transaction?.currency ?? "") }),
            fact("prices", view.prices.text),
            fact("paid", view.paid.isEmpty ? nil : view.paid.map(\.text).joined(separator: "; ")),
            fact("unpaid time", Self.unpaid(view, now)),
            fact("auto-renew", renewal?.autoRenewStatus.map { $0 ? "on" : "off" }),
            fact("next product", renewal?.autoRenewProductId), date("renews next", renewal?.renewalDate),
            fact("billing retry", renewal?.isInBillingRetry.map { $0 ? "yes" : "no" }),
            date("grace period until", renewal?.gracePeriodExpiresDate),
            fact("Apple's id of the customer", masking.id(transaction?.appTransactionId)),
        ].compactMap { $0 }
    }

    /// - Parameter share: in thousandths of a percent.
    private static func percent(_ share: Int64) -> String { "\(Double(share) / 1000) %".replacing(".0 %", with: " %") }

    private static func unpaid(_ view: PurchaseView, _ now: Date) -> String? {
        guard !view.unpaidSpans.isEmpty else { return nil }
        return view.unpaidSpans.map { span in
            let length = TimeSpan.text(seconds: Int(span.end.timeIntervalSince(span.start)))
            return "\(length) from \(Moment(span.start, now: now).text)"
        }.joined(separator: "; ")
    }

    private static func refreshed(_ refresh: RefreshStore.Refresh, _ now: Date) -> String {
        let asked = "Apple was asked for the history \(Moment(refresh.requestedAt, now: now).distance)"
        guard let outcome = refresh.outcome else { return "\(asked); the answer is not here yet." }
        return "\(asked): \(outcome)\(refresh.message.map { ", \($0)" } ?? "")."
    }

    private static func refreshForm(_ subscription: Subscription, _ request: ConsoleRequest) -> ActionForm {
        let key = subscription.key
        return ActionForm(
            id: "refresh", title: "Refresh from Apple",
            explanation: "Asks Apple for this customer's whole history. What is new goes through the pipeline.",
            address: "/purchases/\(key.environment.rawValue)/\(FormFields.encode(key.originalTransactionId))/refresh",
            button: "Refresh from Apple",
            command:
                "echo \(shellWord(key.originalTransactionId)) > customers.txt && storekeeper backfill customers.txt "
                + "--app \(shellWord(subscription.bundleId)) --environment \(key.environment.rawValue)",
            offersPlan: true, request)
    }
}
