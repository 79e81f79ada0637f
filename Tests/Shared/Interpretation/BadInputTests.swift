import AppStore
import Contracts
import Foundation
import Storage
import Subscriptions
import TestSupport
import Testing

/// What contradicts itself although Apple signed it, from the signed payload through every stage into the database.
@Suite(.serialized) struct BadInputTests {
    @Test func `an end before the purchase gives no access`() async throws {
        try await Letter.expect([.expiryBeforePurchase]) {
            $0.transaction.expiresDate = Letter.now.addingTimeInterval(-2 * 86_400)
        } _: {
            $0.state(at: Letter.now.addingTimeInterval(-3 * 86_400)) == .expired
        }
    }

    @Test func `renewal info of another product grants nothing`() async throws {
        try await Letter.expect([.renewalOfOtherProduct]) {
            $0.renewal?.productId = "silver"
        } _: {
            $0.renewal?.productId == "silver" && $0.state(at: Letter.now) == .active
        }
    }

    @Test func `a price below zero and a quantity of zero are kept`() async throws {
        try await Letter.expect([.negativePrice, .quantityBelowOne]) {
            $0.transaction.price = -1
            $0.transaction.quantity = 0
        } _: {
            $0.transaction?.priceMilliunits == -1 && $0.transaction?.quantity == 0
        }
    }

    @Test func `a long text is kept where it is no name`() async throws {
        let text = String(repeating: "ä", count: 200_000)
        try await Letter.expect([]) {
            $0.transaction.offerIdentifier = text
        } _: {
            $0.transaction?.offerIdentifier == text
        }
    }

    @Test func `a megabyte of text is refused by the verifier, which ingest does not even take`() async throws {
        var letter = Letter()
        letter.transaction.offerIdentifier = String(repeating: "a", count: 1 << 20)
        let signed = try letter.signed()
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            #expect(try await Letter.run([signed], connection) == [.verifier("oversized")])
            await connection.close()
        }
    }

    @Test func `NUL, and a name too long for a key, are put aside with their reason, and the next one goes through`()
        async throws
    {
        var nul = Letter()
        nul.transaction.offerIdentifier = "a\0b"
        var long = Letter()
        long.transaction.transactionId = String(repeating: "7", count: 600)
        let letters = [try nul.signed(), try long.signed(), try Letter().signed()]
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            let ends = try await Letter.run(letters, connection)
            #expect(ends == [.verifier("body"), .stateUpdater("unstorable"), .ledger])
            await connection.close()
        }
    }

    @Test func `one transaction id in two environments is two purchases that never meet`() async throws {
        var sandbox = Letter()
        sandbox.environment = .sandbox
        sandbox.transaction.productId = "test.gold"
        sandbox.renewal?.productId = "test.gold"
        let letters = [try Letter().signed(), try sandbox.signed()]
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            #expect(try await Letter.run(letters, connection) == [.ledger, .ledger])
            for (environment, product) in [(StoreEnvironment.production, "gold"), (.sandbox, "test.gold")] {
                let transactions = try await TransactionStore(connection).transactions(of: Letter.key(environment))
                #expect(transactions.map(\.productId) == [product])
            }
            await connection.close()
        }
    }

    @Test func `other content under a known uuid is kept and flagged, and changes nothing`() async throws {
        let first = Letter()
        var other = first
        other.transaction.productId = "platinum"
        other.payload.signedDate = Letter.now.addingTimeInterval(1)
        let uuid = first.uuid
        let (one, two) = (try first.signed(), try other.signed())
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            let ends = try await Letter.run([one, two, one], connection)
            #expect(ends == [.ledger, .ledger, .deduplicator("repeated")])
            let lines = try await NotificationStore(connection).lines(of: Letter.key())
            #expect(lines.map(\.contentConflicts) == [1])
            let conflicts = try await NotificationStore(connection).conflicts(with: uuid)
            #expect(conflicts.map(\.signedOriginal) == [two])
            #expect(try await SubscriptionStore(connection).find(Letter.key())?.transaction?.productId == "gold")
            await connection.close()
        }
    }

    @Test func `a notification of another app for a known purchase counts, is flagged and takes it from nobody`()
        async throws
    {
        var own = Letter()
        own.transaction.appAccountToken = "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b"
        own.transaction.signedDate = Letter.now.addingTimeInterval(-60)
        own.payload.signedDate = Letter.now.addingTimeInterval(-60)
        var other = Letter()
        other.app = Letter.apps[1]
        other.transaction.appAccountToken = own.transaction.appAccountToken
        other.transaction.expiresDate = Letter.now.addingTimeInterval(5 * 86_400)
        let letters = [try own.signed(), try other.signed()]
        let token = own.transaction.appAccountToken ?? ""
        for order in [letters, letters.reversed()] {
            try await TestDatabase.use { database async throws in
                let connection = TestDatabase.connection(database)
                #expect(try await Letter.run(order, connection) == [.ledger, .ledger])
                #expect(try await AnomalyStore(connection).anomalies(of: Letter.key()) == [.otherApp])
                let store = AccessStore(connection)
                // The facts of the other app count.
                let now = Letter.now.addingTimeInterval(3 * 86_400)
                let periods = try await store.access(
                    ofAccount: token, of: Letter.apps[0], in: .production, at: now)
                #expect(periods?.map(\.bundleId) == [Letter.apps[0]])
                let others = try await store.access(ofAccount: token, of: Letter.apps[1], in: .production, at: now)
                #expect(others == [])
                await connection.close()
            }
        }
    }

    @Test func `renewal info of another purchase is refused by the verifier`() async throws {
        var letter = Letter()
        letter.renewal?.originalTransactionId = "2000"
        let signed = try letter.signed()
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            let ends = try await Letter.run([signed], connection)
            #expect(ends == [.verifier("nested-mismatch")])
            await connection.close()
        }
    }
}
