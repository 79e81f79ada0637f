import AppStore
import Contracts
import Foundation
import Pipeline
import Postgres
import Signatures
import Storage
import Subscriptions
import TestSupport
import Testing

@testable import Deduplicator
@testable import StateUpdater
@testable import Verifier

/// What contradicts itself although Apple signed it, from the signed payload through every stage into the database.
@Suite(.serialized) struct BadInputTests {
    static let apps = ["com.example.app", "com.example.other"]
    static let now = SignedLife.now

    /// What Apple would sign; each test changes what it is about.
    struct Letter {
        var uuid = UUID()
        var app = apps[0]
        var environment = AppStoreEnvironment.production
        var transaction = JWSTransactionDecodedPayload()
        var renewal: JWSRenewalInfoDecodedPayload? = JWSRenewalInfoDecodedPayload()
        var payload = ResponseBodyV2DecodedPayload()
        var data = NotificationData()

        init() {
            transaction.originalTransactionId = "1000"
            transaction.transactionId = "1001"
            transaction.productId = "gold"
            transaction.type = .autoRenewableSubscription
            transaction.purchaseDate = now.addingTimeInterval(-86_400)
            transaction.expiresDate = now.addingTimeInterval(86_400)
            transaction.price = 9990
            transaction.quantity = 1
            transaction.signedDate = now
            renewal?.originalTransactionId = "1000"
            renewal?.productId = "gold"
            renewal?.autoRenewProductId = "gold"
            renewal?.signedDate = now
            payload.notificationType = .didRenew
            payload.signedDate = now
            payload.version = "2.0"
            data.status = .active
        }

        /// The compact JWS.
        func signed() throws -> [UInt8] {
            let signer = PayloadSigner(authority: try SignedLife.authority.get())
            var (transaction, renewal, data, payload) = (transaction, renewal, data, payload)
            transaction.bundleId = app
            transaction.environment = environment
            renewal?.environment = environment
            data.bundleId = app
            data.appAppleId = environment == .production ? Int64(1 + (apps.firstIndex(of: app) ?? 0)) : nil
            data.environment = environment
            data.signedTransactionInfo = String(decoding: try signer.sign(transaction.json), as: UTF8.self)
            data.signedRenewalInfo = try renewal.map { String(decoding: try signer.sign($0.json), as: UTF8.self) }
            payload.notificationUUID = uuid.uuidString.lowercased()
            payload.data = data
            return try signer.sign(payload.json)
        }
    }

    /// Where a letter ended.
    enum End: Equatable {
        case ledger
        case verifier(String)
        case deduplicator(String)
        case stateUpdater(String)
    }

    /// Runs letters, one after the other, through the verifier, the deduplicator, the state-updater and the ledger.
    static func run(_ letters: [[UInt8]], _ connection: PostgresConnection) async throws -> [End] {
        let verifier = SignedDataVerifier(
            trust: try TrustStore.apple.adding(rootsIn: Array(SignedLife.authority.get().rootPEM.utf8)),
            apps: AppRegistry(
                apps: apps.enumerated().map { number, app in
                    AcceptedApp(
                        bundleId: app, appAppleId: Int64(number + 1), environments: [.production, .sandbox])
                }))
        let deduplicator = Deduplicate(sightings: SightingStore(connection), now: { now })
        var ends: [End] = []
        for (offset, letter) in letters.enumerated() {
            let position = LogPosition(topic: "t", partition: 0, offset: Int64(offset))
            let received = ReceivedNotification(
                signedPayload: letter, source: .webhook, receivedAt: now, bundleId: nil)
            switch try await Verify(verifier: { verifier }, now: { now }, cores: 1)
                .judge([Delivery(message: received, position: position)])[0]
            {
            case .forward(let verified):
                // Over the wire, as between the processes.
                let read = try VerifiedNotification(verified.record())
                switch try await deduplicator.judge([Delivery(message: read, position: position)])[0] {
                case .forward(let unique):
                    switch Update().verdict(on: unique.verified, at: position) {
                    case .forward(let entry):
                        _ = try await LedgerStore(connection).apply([entry], moving: [], recordedAt: now)
                        ends.append(.ledger)
                    case .deadLetter(let reason, _): ends.append(.stateUpdater(reason.rawValue))
                    case .discard(let reason): ends.append(.stateUpdater(reason.rawValue))
                    }
                case .deadLetter(let reason, _): ends.append(.deduplicator(reason.rawValue))
                case .discard(let reason): ends.append(.deduplicator(reason.rawValue))
                }
            case .deadLetter(let reason, _): ends.append(.verifier(reason.rawValue))
            case .discard(let reason): ends.append(.verifier(reason.rawValue))
            }
        }
        return ends
    }

    static func key(_ environment: StoreEnvironment = .production) -> SubscriptionKey {
        SubscriptionKey(environment: environment, originalTransactionId: "1000")
    }

    /// One letter that must reach the ledger with exactly these doubts.
    static func expect(
        _ doubts: Set<Doubt>, of change: (inout Letter) -> Void,
        _ check: @Sendable (Subscription) -> Bool
    ) async throws {
        var letter = Letter()
        change(&letter)
        let signed = try letter.signed()
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            #expect(try await run([signed], connection) == [.ledger])
            let state = try #require(try await SubscriptionStore(connection).find(key()))
            #expect(check(state))
            #expect(try await Set(MarkStore(connection).marks(of: key()).doubts) == doubts)
            let original = try await NotificationStore(connection).original(letter.uuid)
            #expect(original == signed)
            await connection.close()
        }
    }

    @Test func `an end before the purchase gives no access`() async throws {
        try await Self.expect([.expiryBeforePurchase]) {
            $0.transaction.expiresDate = Self.now.addingTimeInterval(-2 * 86_400)
        } _: {
            $0.phase(at: Self.now.addingTimeInterval(-3 * 86_400)) == .expired
        }
    }

    @Test func `renewal info of another product grants nothing`() async throws {
        try await Self.expect([.renewalOfOtherProduct]) {
            $0.renewal?.productId = "silver"
        } _: {
            $0.renewal?.productId == "silver" && $0.phase(at: Self.now) == .active
        }
    }

    @Test(arguments: [-62_135_596_800, 253_402_300_799] as [Double])
    func `a date of the year 1 or 9999 is kept`(seconds: Double) async throws {
        let date = Date(timeIntervalSince1970: seconds)
        try await Self.expect([.implausibleDate]) {
            $0.transaction.originalPurchaseDate = date
        } _: {
            $0.transaction?.originalPurchaseDate == date
        }
    }

    @Test func `a period that ends in the year 9999 gives access until then`() async throws {
        let end = Date(timeIntervalSince1970: 253_402_300_799)
        try await Self.expect([.implausibleDate]) {
            $0.transaction.expiresDate = end
        } _: {
            $0.phase(at: end.addingTimeInterval(-1)) == .active && $0.phase(at: end) != .active
        }
    }

    @Test func `a price below zero and a quantity of zero are kept`() async throws {
        try await Self.expect([.negativePrice, .quantityBelowOne]) {
            $0.transaction.price = -1
            $0.transaction.quantity = 0
        } _: {
            $0.transaction?.priceMilliunits == -1 && $0.transaction?.quantity == 0
        }
    }

    @Test func `a long text is kept where it is no name`() async throws {
        let text = String(repeating: "ä", count: 200_000)
        try await Self.expect([]) {
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
            #expect(try await Self.run([signed], connection) == [.verifier("oversized")])
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
            let ends = try await Self.run(letters, connection)
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
            #expect(try await Self.run(letters, connection) == [.ledger, .ledger])
            for (environment, product) in [(StoreEnvironment.production, "gold"), (.sandbox, "test.gold")] {
                let transactions = try await TransactionStore(connection).transactions(of: Self.key(environment))
                #expect(transactions.map(\.productId) == [product])
            }
            await connection.close()
        }
    }

    @Test func `other content under a known uuid is kept and flagged, and changes nothing`() async throws {
        let first = Letter()
        var other = first
        other.transaction.productId = "platinum"
        other.payload.signedDate = Self.now.addingTimeInterval(1)
        let uuid = first.uuid
        let (one, two) = (try first.signed(), try other.signed())
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            let ends = try await Self.run([one, two, one], connection)
            #expect(ends == [.ledger, .ledger, .deduplicator("repeated")])
            let lines = try await NotificationStore(connection).lines(of: Self.key())
            #expect(lines.map(\.contentConflicts) == [1])
            let conflicts = try await NotificationStore(connection).conflicts(with: uuid)
            #expect(conflicts.map(\.signedOriginal) == [two])
            #expect(try await SubscriptionStore(connection).find(Self.key())?.transaction?.productId == "gold")
            await connection.close()
        }
    }

    @Test func `a notification of another app for a known purchase counts and is flagged`() async throws {
        var other = Letter()
        other.app = Self.apps[1]
        let letters = [try Letter().signed(), try other.signed()]
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            #expect(try await Self.run(letters, connection) == [.ledger, .ledger])
            let marks = try await MarkStore(connection).marks(of: Self.key())
            #expect(marks.bundleIds == Self.apps)
            #expect(marks.doubts == [.otherApp])
            await connection.close()
        }
    }

    @Test func `renewal info of another purchase is refused by the verifier`() async throws {
        var letter = Letter()
        letter.renewal?.originalTransactionId = "2000"
        let signed = try letter.signed()
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            let ends = try await Self.run([signed], connection)
            #expect(ends == [.verifier("nested-mismatch")])
            await connection.close()
        }
    }
}
