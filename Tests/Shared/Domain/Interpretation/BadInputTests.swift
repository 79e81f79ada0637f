import AppStore
import Contracts
import Foundation
import Storage
import Subscriptions
import TestSupport
import Testing

/// Contradictory payloads that Apple signed, through every stage into the database.
@Suite(.serialized) struct BadInputTests {
    @Test func `A transaction that ends before its purchase gives no access`() async throws {
        try await NotificationBuilder.expect([.expiryBeforePurchase]) {
            $0.transaction.expiresDate = NotificationBuilder.now.addingTimeInterval(-2 * 86_400)
        } _: {
            $0.state(at: NotificationBuilder.now.addingTimeInterval(-3 * 86_400)) == .expired
        }
    }

    @Test func `A renewal info of another product grants no grace period`() async throws {
        try await NotificationBuilder.expect([.renewalOfOtherProduct]) {
            $0.renewal?.productId = "silver"
        } _: {
            $0.renewal?.productId == "silver" && $0.state(at: NotificationBuilder.now) == .active
        }
    }

    @Test func `A price below zero and a quantity of zero are stored`() async throws {
        try await NotificationBuilder.expect([.negativePrice, .quantityBelowOne]) {
            $0.transaction.price = -1
            $0.transaction.quantity = 0
        } _: {
            $0.transaction?.priceMilliunits == -1 && $0.transaction?.quantity == 0
        }
    }

    @Test func `A long text is stored where it is no key`() async throws {
        let text = String(repeating: "ä", count: 200_000)
        try await NotificationBuilder.expect([]) {
            $0.transaction.offerIdentifier = text
        } _: {
            $0.transaction?.offerIdentifier == text
        }
    }

    @Test func `A megabyte of text is rejected by the verifier; ingest rejects it before`() async throws {
        var notification = NotificationBuilder()
        notification.transaction.offerIdentifier = String(repeating: "a", count: 1 << 20)
        let signed = try notification.signed()
        try await TestDatabase.connected { connection async throws in
            #expect(try await NotificationBuilder.run([signed], connection) == [.verifier("oversized")])
        }
    }

    @Test
    func
        `NUL and an id too long for a key are rejected with their reason, and the next notification reaches the ledger`()
        async throws
    {
        var nul = NotificationBuilder()
        nul.transaction.offerIdentifier = "a\0b"
        var long = NotificationBuilder()
        long.transaction.transactionId = String(repeating: "7", count: 600)
        let notifications = [try nul.signed(), try long.signed(), try NotificationBuilder().signed()]
        try await TestDatabase.connected { connection async throws in
            let outcomes = try await NotificationBuilder.run(notifications, connection)
            #expect(outcomes == [.verifier("body"), .stateUpdater("unstorable"), .ledger])
        }
    }

    @Test func `A transaction id in two environments is two purchases`() async throws {
        var sandbox = NotificationBuilder()
        sandbox.environment = .sandbox
        sandbox.transaction.productId = "test.gold"
        sandbox.renewal?.productId = "test.gold"
        let notifications = [try NotificationBuilder().signed(), try sandbox.signed()]
        try await TestDatabase.connected { connection async throws in
            #expect(try await NotificationBuilder.run(notifications, connection) == [.ledger, .ledger])
            for (environment, product) in [(StoreEnvironment.production, "gold"), (.sandbox, "test.gold")] {
                let transactions = try await TransactionStore(connection).transactions(
                    of: NotificationBuilder.key(environment))
                #expect(transactions.map(\.productId) == [product])
            }
        }
    }

    @Test func `Other content under a known notificationUUID is stored and flagged, and changes no state`() async throws
    {
        let first = NotificationBuilder()
        var other = first
        other.transaction.productId = "platinum"
        other.payload.signedDate = NotificationBuilder.now.addingTimeInterval(1)
        let uuid = first.uuid
        let (one, two) = (try first.signed(), try other.signed())
        try await TestDatabase.connected { connection async throws in
            let outcomes = try await NotificationBuilder.run([one, two, one], connection)
            #expect(outcomes == [.ledger, .ledger, .deduplicator("repeated")])
            let lines = try await NotificationStore(connection).lines(of: NotificationBuilder.key())
            #expect(lines.map(\.contentConflicts) == [1])
            let conflicts = try await NotificationStore(connection).conflicts(with: uuid)
            #expect(conflicts.map(\.signedOriginal) == [two])
            #expect(
                try await SubscriptionStore(connection).find(NotificationBuilder.key())?.transaction?.productId
                    == "gold")
        }
    }

    @Test
    func
        `A notification of another app for a known purchase counts, is an anomaly, and the purchase stays with the first app`()
        async throws
    {
        var own = NotificationBuilder()
        own.transaction.appAccountToken = "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b"
        own.transaction.signedDate = NotificationBuilder.now.addingTimeInterval(-60)
        own.payload.signedDate = NotificationBuilder.now.addingTimeInterval(-60)
        var other = NotificationBuilder()
        other.app = NotificationBuilder.apps[1]
        other.transaction.appAccountToken = own.transaction.appAccountToken
        other.transaction.expiresDate = NotificationBuilder.now.addingTimeInterval(5 * 86_400)
        let notifications = [try own.signed(), try other.signed()]
        let token = own.transaction.appAccountToken ?? ""
        for order in [notifications, notifications.reversed()] {
            try await TestDatabase.connected { connection async throws in
                #expect(try await NotificationBuilder.run(order, connection) == [.ledger, .ledger])
                #expect(try await AnomalyStore(connection).anomalies(of: NotificationBuilder.key()) == [.otherApp])
                let store = AccessStore(connection)
                // The facts of the other app count.
                let now = NotificationBuilder.now.addingTimeInterval(3 * 86_400)
                let periods = try await store.access(
                    ofAccount: token, of: NotificationBuilder.apps[0], in: .production, at: now)
                #expect(periods?.map(\.bundleId) == [NotificationBuilder.apps[0]])
                let others = try await store.access(
                    ofAccount: token, of: NotificationBuilder.apps[1], in: .production, at: now)
                #expect(others == [])
            }
        }
    }

    @Test func `A renewal info of another purchase is rejected by the verifier`() async throws {
        var notification = NotificationBuilder()
        notification.renewal?.originalTransactionId = "2000"
        let signed = try notification.signed()
        try await TestDatabase.connected { connection async throws in
            let outcomes = try await NotificationBuilder.run([signed], connection)
            #expect(outcomes == [.verifier("nested-mismatch")])
        }
    }
}
