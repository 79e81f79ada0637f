import Contracts
import Foundation
import Postgres
import Records
import Storage
import Subscriptions
import TestSupport

/// Customers with purchases of all kinds in the ledger, and what a file of RevenueCat's says of them: each difference is known.
struct ComparedLedger {
    static let app = "com.example.app"
    /// The moment of the file.
    static let moment = Date(timeIntervalSince1970: 1_790_000_000)
    /// When it is compared.
    static let now = moment.addingTimeInterval(3600)
    static let day = 86_400.0

    private(set) var entries: [LedgerEntry] = []
    private(set) var accounts: [String: UUID] = [:]
    private(set) var records: [String] = [header]
    /// Customer, entitlement and cause, in the order of their names.
    var expected: [String] { differences.sorted() }
    private var differences: [String] = []
    private var purchases = 0
    /// Digits at the end of the names of the customers who are added, so that several of each can be.
    private var suffix = ""

    static let header = [
        "rc_original_app_user_id", "rc_last_seen_app_user_id_alias", "store", "is_sandbox", "store_transaction_id",
        "original_store_transaction_id", "product_identifier", "start_time", "end_time", "effective_end_time",
        "grace_period_end_time", "refunded_at", "ownership_type", "entitlement_identifiers", "email",
    ].joined(separator: ",")

    static func at(_ days: Double) -> Date { moment.addingTimeInterval(days * day) }

    static func text(_ date: Date?) -> String {
        date.map { $0.formatted(Date.ISO8601FormatStyle()).replacing("T", with: " ").replacing("Z", with: "") } ?? ""
    }

    /// A purchase, and the transactions of it that Apple signs.
    struct Purchase {
        var id: String
        var account: UUID
        var facts: TransactionFacts

        init(_ id: String, _ account: UUID, product: String, from: Double, to end: Double?) {
            self.id = id
            self.account = account
            facts = TransactionFacts(
                transactionId: id, productId: product, productType: "Auto-Renewable Subscription",
                purchaseDate: ComparedLedger.at(from), originalPurchaseDate: ComparedLedger.at(from),
                expiresDate: end.map(ComparedLedger.at), appAccountToken: account.uuidString.lowercased(),
                ownership: "PURCHASED", signedDate: ComparedLedger.at(from), reason: "PURCHASE")
        }
    }

    /// A customer of the developer's with an own account.
    mutating func customer(_ id: String) -> UUID {
        let account = UUID()
        accounts[id + suffix] = account
        return account
    }

    /// A subscription that is bought and known.
    mutating func buy(
        _ customer: UUID, _ product: String = "pro", from: Double = -10, to end: Double? = 20,
        _ change: (inout Purchase) -> Void = { _ in }
    ) -> Purchase {
        purchases += 1
        var purchase = Purchase("20000000000\(10_000 + purchases)", customer, product: product, from: from, to: end)
        change(&purchase)
        tell("SUBSCRIBED", "INITIAL_BUY", purchase, status: 1, at: from)
        return purchase
    }

    /// A notification.
    mutating func tell(
        _ type: String, _ subtype: String? = nil, _ purchase: Purchase, status: Int?, at days: Double,
        renewal: RenewalFacts? = nil
    ) {
        let uuid = UUID()
        let signed = Self.at(days)
        var facts = purchase.facts
        facts.signedDate = signed
        let event = PurchaseEvent(
            key: SubscriptionKey(environment: .production, originalTransactionId: purchase.id),
            version: EventVersion(signedDate: signed, notificationUUID: uuid), bundleId: Self.app,
            notificationType: type, subtype: subtype, status: status, transaction: facts,
            renewal: renewal
                ?? (facts.productType == "Auto-Renewable Subscription"
                    ? RenewalFacts(
                        autoRenewStatus: true, renewalDate: facts.expiresDate, signedDate: signed,
                        productId: facts.productId)
                    : nil))
        entries.append(
            LedgerEntry(
                notificationUUID: uuid, notificationType: type, subtype: subtype, environment: .production,
                bundleId: Self.app, appAppleId: 1, originalTransactionId: purchase.id,
                transactionId: facts.transactionId, signedDate: signed, receivedAt: signed, source: .webhook,
                decodedPayload: "{\"notificationUUID\":\"\(uuid.uuidString.lowercased())\"}",
                signedPayload: Array("head.\(uuid.uuidString).tail".utf8), event: event,
                position: LogPosition(topic: Topics.unique.name, partition: 0, offset: 0)))
    }

    /// The next period of a purchase, charged when it begins.
    mutating func renew(_ purchase: Purchase, from: Double, to end: Double, at signed: Double? = nil) -> Purchase {
        var renewal = purchase
        renewal.facts.transactionId += "1"
        renewal.facts.purchaseDate = Self.at(from)
        renewal.facts.expiresDate = Self.at(end)
        renewal.facts.reason = "RENEWAL"
        tell("DID_RENEW", nil, renewal, status: 1, at: signed ?? from)
        return renewal
    }

    /// A day before the moment of the file Apple could not charge the next period.
    mutating func failToRenew(_ purchase: Purchase) {
        tell(
            "DID_FAIL_TO_RENEW", nil, purchase, status: 3, at: -1,
            renewal: RenewalFacts(
                autoRenewStatus: true, isInBillingRetry: true, renewalDate: Self.at(-1), signedDate: Self.at(-1),
                productId: "pro"))
    }

    /// A record of the file.
    /// - Parameter transaction: of the purchase; then the file names no original one.
    mutating func record(
        _ customer: String, _ purchase: String?, product: String = "pro", from: Double? = -10, to end: Double?,
        grace: Double? = nil, refunded: Double? = nil, store: String = "app_store", sandbox: Bool = false,
        shared: Bool = false, entitlements: String = "", seconds: Double = 0, transaction: String? = nil
    ) {
        let until = end.map { Self.at($0).addingTimeInterval(seconds) }
        let customer = customer + suffix
        records.append(
            [
                customer, customer, store, "\(sandbox)",
                transaction ?? purchase.map { "\($0)\(product.utf8.count)" } ?? "", purchase ?? "",
                product, Self.text(from.map(Self.at)), Self.text(until),
                Self.text([until, grace.map(Self.at)].compactMap(\.self).max()), Self.text(grace.map(Self.at)),
                Self.text(refunded.map(Self.at)), shared ? "FAMILY_SHARED" : "PURCHASED", entitlements,
                "\(customer)@example.com",
            ].joined(separator: ","))
    }

    mutating func expect(_ customer: String, _ entitlement: String, _ cause: ComparisonCause) {
        differences.append("\(customer)\(suffix) \(entitlement) \(cause.rawValue)")
    }

    /// Applies what Apple signed, in an order and in batches that the seed decides; each customer is known before, or after.
    func apply(to connection: PostgresConnection, seed: UInt64) async throws {
        var generator = SeededGenerator(state: seed)
        var rest = entries.shuffled(using: &generator)[...]
        var (before, after): ([String], [String]) = ([], [])
        for customer in accounts.keys.sorted() {
            if Bool.random(using: &generator) { before.append(customer) } else { after.append(customer) }
        }
        try await add(before, to: connection)
        let largest = max(20, entries.count / 3)
        while !rest.isEmpty {
            let batch = rest.prefix(.random(in: 1...largest, using: &generator))
            rest = rest.dropFirst(batch.count)
            _ = try await LedgerStore(connection).apply(Array(batch), moving: [], recordedAt: Self.now)
        }
        try await add(after, to: connection)
    }

    private func add(_ customers: [String], to connection: PostgresConnection) async throws {
        for id in customers {
            guard let account = accounts[id] else { continue }
            _ = try await CustomerRecords(connection).put(
                CustomerRecords.Customer(
                    id: id, environment: .production, bundleId: Self.app, appAccountToken: account, createdAt: Self.now),
                isTokenGiven: true)
        }
    }

    /// - Parameter customer: the name without digits; each with the name is given it.
    func grant(_ product: String, to customer: String, _ connection: PostgresConnection) async throws {
        for (id, account) in accounts where id.trimmingCharacters(in: .decimalDigits) == customer {
            try await grant(product, to: account, connection)
        }
    }

    private func grant(_ product: String, to account: UUID, _ connection: PostgresConnection) async throws {
        _ = try await connection.pipeline([
            CustomerRecords.command(
                adding: CustomerRecords.ManualGrant(
                    id: UUID(), environment: .production, bundleId: Self.app, appAccountToken: account,
                    productId: product, reason: "test", startsAt: Self.at(-1), endsAt: nil, createdAt: Self.at(-1),
                    createdBy: CustomerRecords.ManualGrant.byOperator))
        ])
    }

    /// Each cause at least once, and customers who are the same.
    /// - Parameter times: more than once, each time with customers and purchases of their own.
    static func withAllCauses(times: Int = 1) -> ComparedLedger {
        var ledger = ComparedLedger()
        for time in 0..<times {
            ledger.suffix = times > 1 ? "\(time)" : ""
            ledger.addEqual()
            ledger.addBillingCauses()
            ledger.addRefunds()
            ledger.addOwners()
            ledger.addOthers()
        }
        return ledger
    }

    private mutating func addEqual() {
        let same = buy(customer("same"))
        record("same", same.id, to: 20)
        // The file was written before Apple charged the next period.
        let renewed = buy(customer("renewed"), from: -29.99, to: 0.01)
        record("renewed", renewed.id, from: -29.99, to: 0.01)
        _ = renew(renewed, from: 0.01, to: 30, at: 0.005)
    }

    private mutating func addBillingCauses() {
        let grace = buy(customer("grace"), from: -31, to: -1)
        tell(
            "DID_FAIL_TO_RENEW", "GRACE_PERIOD", grace, status: 4, at: -1,
            renewal: RenewalFacts(
                autoRenewStatus: true, isInBillingRetry: true, gracePeriodExpiresDate: Self.at(15),
                renewalDate: Self.at(-1), signedDate: Self.at(-1), productId: "pro"))
        record("grace", grace.id, from: -31, to: -1)
        expect("grace", "pro", .gracePeriod)
        let retry = buy(customer("retry"), from: -31, to: -1)
        failToRenew(retry)
        record("retry", retry.id, from: -31, to: 9)
        expect("retry", "pro", .billingRetry)
        let late = buy(customer("late"), to: 20)
        record("late", late.id, to: 20, seconds: 200)
        expect("late", "pro", .endWithinFiveMinutes)
        let ended = buy(customer("ended"), from: -31, to: -0.001)
        record("ended", ended.id, from: -31, to: -0.001, seconds: 200)
        expect("ended", "pro", .endWithinFiveMinutes)
        let pass = buy(customer("pass"), "pass", to: nil) { $0.facts.productType = "Non-Renewing Subscription" }
        record("pass", pass.id, product: "pass", to: 20)
        expect("pass", "pass", .nonRenewingDuration)
        let missed = buy(customer("missed"), to: 20)
        record("missed", missed.id, to: -3)
        expect("missed", "pro", .unexplained)
        record("stranger", "2000000000099999\(suffix)", to: 20)
        expect("stranger", "pro", .unknownToApple)
    }

    private mutating func addRefunds() {
        for (name, type, cause) in [
            ("full", nil as String?, ComparisonCause.refundInFull), ("prorated", "REFUND_PRORATED", .refundProrated),
        ] {
            var refund = buy(customer(name))
            refund.facts.revocationDate = Self.at(-2)
            refund.facts.revocationReason = 0
            refund.facts.revocationType = type
            tell("REFUND", nil, refund, status: 5, at: -2)
            record(name, refund.id, to: 20)
            expect(name, "pro", cause)
        }
        var reversed = buy(customer("reversed"))
        reversed.facts.revocationDate = Self.at(-3)
        tell("REFUND", nil, reversed, status: 5, at: -3)
        reversed.facts.revocationDate = nil
        tell("REFUND_REVERSED", nil, reversed, status: 1, at: -2)
        record("reversed", reversed.id, to: -3, refunded: -3)
        expect("reversed", "pro", .refundReversed)
        var shared = buy(customer("shared")) { $0.facts.ownership = "FAMILY_SHARED" }
        shared.facts.revocationDate = Self.at(-2)
        shared.facts.revocationType = "FAMILY_REVOKE"
        tell("REVOKE", nil, shared, status: 5, at: -2)
        record("shared", shared.id, to: 20, shared: true)
        expect("shared", "pro", .familySharing)
        // The file has no access by family sharing.
        _ = buy(customer("family")) { $0.facts.ownership = "FAMILY_SHARED" }
        expect("family", "pro", .familySharing)
    }

    private mutating func addOwners() {
        let held = buy(customer("owner"))
        record("claimer", held.id, to: 20)
        expect("claimer", "pro", .otherOwner)
        expect("owner", "pro", .otherOwner)
        var upgrade = buy(customer("upgrade"), "basic")
        var charged = upgrade
        upgrade.facts.isUpgraded = true
        tell("DID_CHANGE_RENEWAL_PREF", "UPGRADE", upgrade, status: nil, at: -4)
        charged.facts.transactionId += "1"
        charged.facts.productId = "pro"
        charged.facts.purchaseDate = Self.at(-4)
        charged.facts.expiresDate = Self.at(26)
        tell("DID_CHANGE_RENEWAL_PREF", "UPGRADE", charged, status: 1, at: -3.99)
        record("upgrade", upgrade.id, product: "basic", to: 20)
        expect("upgrade", "basic", .upgrade)
        expect("upgrade", "pro", .upgrade)
        _ = buy(customer("absent"))
        expect("absent", "pro", .unexplained)
    }

    private mutating func addOthers() {
        _ = customer("granted")
        record("granted", nil, product: "rc_promo_gold", to: -1, store: "promotional", entitlements: "gold")
        expect("granted", "vip", .grantByHand)
        _ = customer("promoted")
        record("promoted", nil, product: "rc_promo_gold", to: 20, store: "promotional", entitlements: "gold")
        expect("promoted", "gold", .grantByHand)
        _ = customer("player")
        record("player", "GPA.1234\(suffix)", to: 20, store: "play_store")
        expect("player", "pro", .otherStore)
        // Longer by the other store than by this one.
        let both = buy(customer("both"))
        record("both", both.id, to: 20)
        record("both", "GPA.1235\(suffix)", to: 50, store: "play_store")
        expect("both", "pro", .otherStore)
        _ = customer("tester")
        record("tester", "2000000000088888\(suffix)", to: 20, sandbox: true)
        expect("tester", "pro", .sandbox)
    }
}
