import Contracts
import Foundation
import Postgres
import Records
import Storage
import Subscriptions
import WebhookDelivery

@testable import Console

/// Purchases, dead letters and coverage in the database, some with hostile texts.
struct SampleContents {
    static let account = "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b"
    static let app = "com.example.app"
    static let purchase = "2000000000000001"
    static let ended = "2000000000000002"
    /// Markup, also behind a letter that joins it to itself, a quotation mark that a combining character follows, a change of direction,
    /// and 4 KB.
    static let hostile =
        "<script>alert(1)</script>\u{0D4E}<script>\"\u{301} onmouseover=alert(2) x='\u{202E}gnp{{title}}"
        + String(repeating: "A", count: 4000)

    let connection: PostgresConnection
    let now = RunningConsole.now

    /// A console that shows these contents.
    static func with(
        refunds: Bool = false, isolation: isolated (any Actor)? = #isolation,
        _ body: (RunningConsole) async throws -> Void
    ) async throws {
        try await RunningConsole.with { console in
            if refunds { try await fillRefunds(console) } else { try await fill(console) }
            try await body(console)
        }
    }

    static func fill(_ console: RunningConsole) async throws {
        try await console.withOwner { connection in
            let contents = SampleContents(connection: connection)
            let bought = try await contents.notification(
                "SUBSCRIBED", "INITIAL_BUY", purchase: purchase, from: -100, to: 864_000)
            _ = try await contents.notification("SUBSCRIBED", "INITIAL_BUY", purchase: ended, from: -9000, to: -1000)
            _ = try await contents.notification(
                "EXPIRED", "VOLUNTARY", purchase: ended, from: -9000, to: -1000, signed: -900, status: 2)
            _ = try await contents.notification(
                hostile, hostile, purchase: "2000000000000003", from: -50, to: 5000, product: hostile,
                bundleId: "h" + hostile)
            _ = try await contents.notification(
                "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", purchase: purchase, from: -100, to: 864_000,
                signed: -50, isRenewing: false)
            try await contents.deadLetters()
            try await contents.coverage()
            try await contents.webhooks()
            try await contents.comparison(bought)
        }
    }

    /// All of that, a customer who consents and asks for a refund that no one has answered, and offers that were signed.
    static func fillRefunds(_ console: RunningConsole) async throws {
        try await fill(console)
        try await console.withOwner { connection in
            try await SampleContents(connection: connection).refund()
            try await SampleContents(connection: connection).offers()
        }
    }

    /// A rule, a signature that the purchase redeemed, one after it, and one with a hostile text.
    func offers() async throws {
        let audit = OperatorAction(
            actedAt: now, actor: "olga", operation: "offers rules set", subject: Self.app, reason: nil)
        _ = try await OfferRuleStore(connection).add(
            """
            {"rules": [{"productId": "pro.monthly", "offerIdentifier": "spring", "who": ["lapsed", "active"], "lapsedDays": 7,
                        "noRefundDays": 90, "atMost": {"count": 1, "days": 365}, "from": "2025-12-01"}]}
            """, to: Self.app, in: .production, by: "olga", at: now.addingTimeInterval(-300), audit: audit)
        for (offer, moment) in [("spring", -200.0), ("spring", -20), (String(Self.hostile.prefix(200)), -10)] {
            let request = OfferSignatureStore.Request(
                app: CoverageStore.App(.production, Self.app), account: UUID(uuidString: Self.account),
                productId: "pro.monthly", offerIdentifier: offer, transactionId: nil, keyId: "KEY1")
            _ = try await OfferSignatureStore(connection).sign(
                request, by: nil, nonce: UUID(), at: now.addingTimeInterval(moment))
        }
        try await connection.run(
            unsafeScript: """
                update transaction set offer_type = 2, offer_id = 'spring' where transaction_id = '\(Self.purchase)'
                """)
    }

    func refund() async throws {
        let audit = OperatorAction(
            actedAt: now, actor: "olga", operation: "refunds policy set", subject: Self.app, reason: nil)
        _ = try await RefundPolicyStore(connection).add(
            #"{"rules": [{"name": "always", "then": {"preference": "GRANT_FULL"}}]}"#, to: Self.app, in: .production,
            by: "olga", at: now.addingTimeInterval(-90), audit: audit)
        guard let account = UUID(uuidString: Self.account) else { return }
        try await ConsentStore(connection).add(
            ConsentStore.Consent(
                environment: .production, bundleId: Self.app, appAccountToken: account, kind: .consumption,
                isGiven: true, givenAt: now.addingTimeInterval(-80), recordedAt: now.addingTimeInterval(-80),
                recordedBy: UUID(), note: nil))
        _ = try await notification(
            "CONSUMPTION_REQUEST", nil, purchase: Self.purchase, from: -100, to: 864_000, signed: -40)
    }

    /// An endpoint with deliveries that wait.
    private func webhooks() async throws {
        let endpoint = WebhookEndpoint(
            id: UUID(), environment: .production, url: "https://example.com/hook", createdAt: .distantPast)
        let audit = OperatorAction(
            actedAt: now, actor: "olga", operation: "webhooks create", subject: "webhook endpoint", reason: nil)
        try await WebhookEndpointStore(connection).create(endpoint, audit: audit)
        let sequences = try await TimelineStore(connection).newest(50).map(\.id)
        _ = try await WebhookQueueStore(connection).enqueue(sequences, moving: [], at: now)
    }

    /// A comparison with more differences than a page shows, one with a hostile text.
    private func comparison(_ decisive: UUID) async throws {
        let store = ComparisonStore(connection)
        var comparison = Comparison(
            id: UUID(), environment: .production, bundleId: Self.app, source: "revenueCat",
            takenAt: now.addingTimeInterval(-3600), startedAt: now.addingTimeInterval(-60))
        let audit = OperatorAction(
            actedAt: now, actor: "olga", operation: "compare", subject: "export.csv", reason: nil)
        try await store.begin(comparison, audit: audit)
        let account = UUID(uuidString: Self.account)
        let unexplained = (0..<150).map { index in
            ComparisonDifference(
                customerId: "customer-\(index)", account: nil, entitlement: "pro",
                ours: .init(hasAccess: false, until: nil),
                others: .init(hasAccess: true, until: now), cause: .unexplained, line: index + 2)
        }
        try await store.add(
            [
                ComparisonDifference(
                    customerId: Self.account, account: account, entitlement: Self.hostile,
                    ours: .init(hasAccess: true, until: nil), others: .init(hasAccess: false, until: nil),
                    cause: .otherOwner, reason: "transaction", purchase: Self.purchase, notificationUUID: decisive)
            ] + unexplained, to: comparison.id)
        comparison.counts.customers = 151
        comparison.counts.causes = ["unexplained": 150, "otherOwner": 1]
        try await store.finish(comparison, at: now.addingTimeInterval(-30))
    }

    func notification(
        _ type: String, _ subtype: String?, purchase: String, from start: Double, to end: Double,
        signed: Double? = nil, status: Int = 1, product: String = "pro.monthly", bundleId: String = Self.app,
        isRenewing: Bool = true, applied: Double? = nil, late: Double = 0,
        decoded: String = #"{"text": "<img src=x onerror=alert(3)> \u0000 \u202e"}"#,
        changing: (inout PurchaseEvent) -> Void = { _ in }
    ) async throws -> UUID {
        let uuid = UUID()
        let signedAt = now.addingTimeInterval(signed ?? start)
        let receivedAt = signedAt.addingTimeInterval(late)
        var event = PurchaseEvent(
            key: SubscriptionKey(environment: .production, originalTransactionId: purchase),
            version: EventVersion(signedDate: signedAt, notificationUUID: uuid), bundleId: bundleId,
            notificationType: type, subtype: subtype, status: status,
            transaction: TransactionFacts(
                transactionId: purchase, productId: product, productType: "Auto-Renewable Subscription",
                subscriptionGroupIdentifier: "g", purchaseDate: now.addingTimeInterval(start),
                expiresDate: now.addingTimeInterval(end), appAccountToken: Self.account, signedDate: signedAt),
            renewal: RenewalFacts(
                autoRenewStatus: isRenewing, expirationIntent: status == 2 ? 1 : nil, signedDate: signedAt))
        changing(&event)
        let entry = LedgerEntry(
            notificationUUID: uuid, notificationType: type, subtype: subtype, environment: .production,
            bundleId: bundleId, appAppleId: 1, originalTransactionId: purchase, transactionId: purchase,
            signedDate: signedAt, receivedAt: receivedAt, source: .webhook,
            decodedPayload: decoded,
            signedPayload: Array("head.\(uuid.uuidString.lowercased()).tail".utf8), event: event,
            position: LogPosition(topic: Topics.unique.name, partition: 0, offset: 0))
        _ = try await LedgerStore(connection).apply(
            [entry], moving: [], recordedAt: applied.map(now.addingTimeInterval) ?? receivedAt.addingTimeInterval(2))
        return uuid
    }

    private func deadLetters() async throws {
        let texts = ["signature", "app-unknown", Self.hostile]
        let rows = texts.enumerated().flatMap { place, reason in
            (0..<3).map { index in
                RejectedRow(
                    cluster: "c1",
                    position: LogPosition(
                        topic: Topics.rejected.name, partition: Int32(place), offset: Int64(index)),
                    stage: place == 2 ? Self.hostile.prefix(500).description : "verifier",
                    reason: String(reason.prefix(500)),
                    message: String("says \(reason)".prefix(500)),
                    rejectedAt: now.addingTimeInterval(Double(-index) * 86_400 - 60),
                    build: place == 1 && index > 1 ? "0.0.9" : "0.1.0",
                    claims: RejectedRow.Claims(
                        source: .webhook, notificationUUID: UUID(), environment: "Production",
                        bundleId: place == 2 ? String(Self.hostile.prefix(500)) : Self.app))
            }
        }
        _ = try await RejectedStore(connection).record(rows)
    }

    private func coverage() async throws {
        let store = CoverageStore(connection)
        let day = Date(timeIntervalSince1970: (now.timeIntervalSince1970 / 86_400 - 3).rounded(.down) * 86_400)
        try await store.begin(.production, Self.app, at: day, sweepingFrom: day)
        guard let sweep = try await store.coverage().first(where: { $0.kind == .sweep }) else { return }
        let window = RecoveryWindow.Request(
            id: UUID(),
            scope: RecoveryWindow.Scope(
                environment: .production, bundleId: Self.app, from: day, to: day.addingTimeInterval(86_400),
                notificationType: nil, subtype: nil, onlyFailures: false), reason: .sweep)
        _ = try await store.plan(
            [window], moving: CoverageStore.Move(sweep, to: day.addingTimeInterval(86_400)), at: now)
    }
}
