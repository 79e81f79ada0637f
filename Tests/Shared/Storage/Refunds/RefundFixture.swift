import Contracts
import Foundation
import Postgres
import Refunds
import Subscriptions
import TestSupport

@testable import Storage

/// A database with a consumable, its request for a refund, and an account that consented.
struct RefundFixture {
    static let app = "com.example.app"
    static let account = UUID(uuidString: "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b") ?? UUID()
    static let key = RefundKey(.production, "1")
    /// The moment of the purchase; requests are some minutes later.
    static let start = Fixtures.epoch

    let connection: PostgresConnection
    let database: PostgresConfiguration
    var store: RefundDecisionStore { RefundDecisionStore(connection) }

    static func at(_ minutes: Double) -> Date { start.addingTimeInterval(minutes * 60) }

    /// - Parameter minute: when the request was signed; nil: there is none.
    static func use(
        requested minute: Double? = 10, consents: Bool = true,
        policy: String? = #"{"rules": [{"name": "else", "then": {"preference": "DECLINE"}}]}"#,
        _ body: (RefundFixture) async throws -> Void
    ) async throws {
        try await LedgerStoreTests.use { connection, database async throws in
            let fixture = RefundFixture(connection: connection, database: database)
            try await fixture.apply("ONE_TIME_CHARGE", minute: 0)
            if consents { try await fixture.consent(true, minute: 1) }
            if let policy { try await fixture.set(policy, minute: 0) }
            if let minute { try await fixture.apply("CONSUMPTION_REQUEST", minute: minute) }
            try await body(fixture)
        }
    }

    /// A notification about a transaction.
    func apply(
        _ type: String, minute: Double, transaction: String = "1", purchase: String = "1", seed: UInt64? = nil,
        _ change: (inout LedgerEntry) -> Void = { _ in }
    ) async throws {
        var fixtures = Fixtures(seed: seed ?? UInt64(bitPattern: Int64((type + transaction + "\(minute)").hashValue)))
        var entry = RefundRequestTests.entry(type, minute: minute, transaction: transaction, &fixtures)
        entry.originalTransactionId = purchase
        entry.event?.key.originalTransactionId = purchase
        entry.event?.transaction?.appAccountToken = Self.account.uuidString.lowercased()
        entry.event?.transaction?.originalPurchaseDate = Self.start
        entry.event?.transaction?.priceMilliunits = 9990
        entry.event?.transaction?.currency = "EUR"
        change(&entry)
        _ = try await LedgerStore(connection).apply([entry], moving: [], recordedAt: Self.at(minute))
    }

    func consent(_ isGiven: Bool, minute: Double) async throws {
        try await ConsentStore(connection).add(
            ConsentStore.Consent(
                environment: .production, bundleId: Self.app, appAccountToken: Self.account, kind: .consumption,
                isGiven: isGiven, givenAt: Self.at(minute), recordedAt: Self.at(minute), recordedBy: UUID(), note: nil))
    }

    @discardableResult
    func set(_ policy: String, minute: Double) async throws -> Int64? {
        try await RefundPolicyStore(connection).add(
            policy, to: Self.app, in: .production, by: "ann", at: Self.at(minute), audit: Self.audit)
    }

    static let audit = OperatorAction(
        actedAt: start, actor: "ann", operation: "refunds policy set", subject: app, reason: nil)

    func use(_ percentage: Int64?, minute: Double) async throws -> Bool {
        try await UsageReportStore(connection).add(
            RefundSubject.UsageReport(percentage: percentage), of: Self.key, among: nil, by: "key", at: Self.at(minute))
            == .stored
    }

    func answerByHand(
        _ minute: Double, usage: RefundSubject.UsageReport? = nil
    ) async throws -> RefundDecisionStore.HandResult {
        try await store.answer(
            Self.key, preference: nil, usage: usage, among: nil, by: "ann", at: Self.at(minute)
        ) { _ in Self.audit }
    }

    func look(_ minute: Double) async throws -> RefundDecisionStore.Turn {
        try await store.look(at: Self.key, now: Self.at(minute)).turn
    }

    /// What a look has to be sent; nil where it is nothing.
    func sending(_ minute: Double) async throws -> RefundDecisionStore.Sending? {
        if case .send(let sending) = try await look(minute) { sending } else { nil }
    }

    /// The decisions, the oldest first: when, and the body, or why there is none.
    func answers() async throws -> [String] {
        try await connection.execute(
            unsafeSQL: """
                select concat_ws(
                    ' ', extract(epoch from decided_at - $1::timestamptz)::int / 60, coalesce(body, withheld_because),
                    case when sent_at is not null then 'sent' end, failed_with) as text
                from refund_answer
                order by id
                """, Self.start
        ).map { row in try row.value("text") }
    }

    static let declined =
        #"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"DELIVERED","refundPreference":"DECLINE"}"#
}
