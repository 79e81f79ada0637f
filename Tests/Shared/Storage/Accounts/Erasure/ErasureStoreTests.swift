import Contracts
import Foundation
import Postgres
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// Customers who asked to be forgotten (GDPR, article 17).
@Suite(.serialized) struct ErasureStoreTests {
    static let app = CustomerStoreTests.app
    static let token = "7e3fb204-2017-4a4e-8f3b-0123456789ab"
    static let other = "7e3fb204-2017-4a4e-8f3b-ba9876543210"

    /// A notification whose payload and signed original name an account.
    static func entry(
        _ fixtures: inout Fixtures, purchase: String = "1", account: String?, day: Double = 0,
        customer: String? = "70"
    ) throws -> LedgerEntry {
        var entry = fixtures.entry()
        let signed = Fixtures.epoch.addingTimeInterval(day * 86_400)
        var event = try #require(entry.event)
        event.key.originalTransactionId = purchase
        event.bundleId = app
        event.version = EventVersion(signedDate: signed, notificationUUID: entry.notificationUUID)
        event.transaction = TransactionFacts(
            transactionId: "\(purchase)-\(day)", productId: "pro", productType: "Auto-Renewable Subscription",
            purchaseDate: signed, expiresDate: signed.addingTimeInterval(86_400 * 4000), appAccountToken: account,
            signedDate: signed, appTransactionId: customer)
        event.renewal = RenewalFacts(autoRenewStatus: true, signedDate: signed, appAccountToken: account)
        event.status = 1
        entry.event = event
        entry.originalTransactionId = purchase
        let payload = account.map { #"{"appAccountToken":"\#($0)","day":\#(day)}"# } ?? #"{"day":\#(day)}"#
        entry.notification.decoded = Array(payload.utf8)
        let encoded = Data(payload.utf8).base64EncodedString().replacing("=", with: "").replacing("+", with: "-")
            .replacing("/", with: "_")
        entry.notification.original = SignedOriginal(encoding: Array("e30.\(encoded).c2ln".utf8))
        return entry
    }

    /// An uploaded app transaction: it names neither a purchase nor an account.
    static func appTransaction(_ fixtures: inout Fixtures, of customer: String) -> LedgerEntry {
        var entry = fixtures.entry()
        entry.event = nil
        entry.notificationType = SignedPart.appTransaction.rawValue
        (entry.subtype, entry.originalTransactionId, entry.transactionId) = (nil, nil, nil)
        entry.bundleId = app
        entry.decodedPayload = #"{"signedAppTransactionInfo":{"appTransactionId":"\#(customer)"}}"#
        entry.notification.original = SignedOriginal(encoding: Array("e30.e30.c2ln".utf8))
        return entry
    }

    static func apply(_ entries: [LedgerEntry], _ connection: PostgresConnection) async throws {
        _ = try await LedgerStore(connection).apply(entries, moving: [], recordedAt: Fixtures.now)
    }

    static func forget(
        _ extent: ErasureStore.Extent, _ connection: PostgresConnection
    ) async throws -> ErasureStore.Certificate {
        let account = try #require(UUID(uuidString: token))
        let certificate = try await ErasureStore(connection).forget(
            account, of: app, in: .production, extent: extent, id: UUID(), at: Fixtures.now)
        return try #require(certificate)
    }

    /// The tables with a row that has the text, in text or in bytes.
    static func tables(with text: String, _ connection: PostgresConnection) async throws -> [String] {
        let hex = text.utf8.map { String(format: "%02x", $0) }.joined()
        let names = try await connection.execute(GrantsTests.tables).map { row in
            try row.value("name", as: String.self)
        }
        var found: [String] = []
        for name in names.sorted() {
            let rows = try await connection.execute(
                unsafeSQL: """
                    select from \(name) as row
                    where row::text ilike '%' || $1::text || '%' or row::text ilike '%' || $2::text || '%'
                    """, text, hex)
            if rows.affected > 0 { found.append(name) }
        }
        return found
    }

    /// An account with everything that can name it.
    static func use(_ body: (PostgresConnection, [LedgerEntry]) async throws -> Void) async throws {
        try await useDatabase { connection, entries, _ async throws in try await body(connection, entries) }
    }

    private static func useDatabase(
        _ body: (PostgresConnection, [LedgerEntry], PostgresConfiguration) async throws -> Void
    ) async throws {
        try await LedgerStoreTests.use { connection, database async throws in
            var fixtures = Fixtures(seed: 900)
            var entries: [LedgerEntry] = []
            for day in 0..<4 { entries.append(try entry(&fixtures, account: token, day: Double(day))) }
            // One account first and another later, on one Apple account.
            entries.append(try entry(&fixtures, purchase: "2", account: token))
            entries.append(try entry(&fixtures, purchase: "2", account: other, day: 1))
            // About no purchase.
            var unknown = fixtures.entry()
            unknown.event = nil
            unknown.originalTransactionId = nil
            unknown.bundleId = app
            unknown.notification.decoded = Array(#"{"a":[{"app_account_token":"\#(token)"}]}"#.utf8)
            entries.append(unknown)
            try await apply(entries, connection)
            // The same uuid with other content.
            var conflict = entries[0]
            conflict.notification.decoded += Array(" ".utf8)
            conflict.notification.original = SignedOriginal(encoding: try conflict.signedPayload + Array("AA".utf8))
            try await apply([conflict], connection)
            let account = try #require(UUID(uuidString: token))
            let records = CustomerRecords(connection)
            _ = try await records.put(
                CustomerRecords.Customer(
                    id: "user-1", environment: .production, bundleId: app, appAccountToken: account,
                    createdAt: Fixtures.now), isTokenGiven: true)
            _ = try await connection.pipeline([CustomerRecords.command(adding: grant)])
            try await ConsentStore(connection).add(consent)
            try await AccountAppStore(connection).add(
                AccountAppStore.AccountApp(
                    environment: .production, bundleId: app, appAccountToken: account, identity: "70",
                    evidence: .signed, originalApplicationVersion: "1", originalPurchaseDate: nil,
                    recordedAt: Fixtures.now), isRestore: false)
            try await SharingStore(connection).choose(token, of: app, in: .production, at: Fixtures.now)
            let claim = AccountClaim(
                key: SubscriptionKey(environment: .production, originalTransactionId: "1"), bundleId: app,
                appTransactionId: nil, appAccountToken: token, evidence: .signed, since: Fixtures.now)
            try await CustomerStore(connection).add([claim])
            try await OperatorActionStore(connection).record(
                ["Production \(app) user-1", "Production \(app) user-1 pro, grant 1", "\(app) Production \(token)"].map
                {
                    OperatorAction(
                        actedAt: Fixtures.now, actor: "ann", operation: "a", subject: $0,
                        reason: "user-1 asked for \(token.uppercased())",
                        about: OperatorAction.About(.production, app, account: account, customer: "user-1"))
                })
            let idempotency = IdempotencyStore(connection)
            let key = UUID()
            _ = try await idempotency.claim(
                "a", of: key, digest: Array(repeating: 1, count: 32), at: Fixtures.now, expiry: .distantPast,
                abandoned: .distantPast)
            try await idempotency.complete(
                "a", of: key, claimedAt: Fixtures.now, status: 200, headers: "{}", body: Array(token.utf8),
                naming: IdempotencyStore.Named(
                    environment: .production, bundleId: app, appAccountTokens: [account], customerId: nil))
            try await body(connection, entries, database)
        }
    }

    private static var grant: CustomerRecords.ManualGrant {
        CustomerRecords.ManualGrant(
            id: UUID(), environment: .production, bundleId: app, appAccountToken: UUID(uuidString: token) ?? UUID(),
            productId: "pro", reason: "r", startsAt: Fixtures.now, endsAt: nil, createdAt: Fixtures.now,
            createdBy: UUID())
    }

    private static var consent: ConsentStore.Consent {
        ConsentStore.Consent(
            environment: .production, bundleId: app, appAccountToken: UUID(uuidString: token) ?? UUID(),
            kind: .consumption, isGiven: true, givenAt: Fixtures.now, recordedAt: Fixtures.now, recordedBy: UUID(),
            note: nil)
    }

    /// Without the function an erasure stops before it has swept other tables.
    private static func rename(_ name: String, to other: String, _ connection: PostgresConnection) async throws {
        try await connection.run(
            unsafeScript: "alter function \(name)(uuid, store_environment, text, uuid, text) rename to \(other)")
    }

    @Test
    func `ErasureStore leaves an account in no table, and neither redelivery nor new notifications bring it back`()
        async throws
    {
        try await Self.use { connection, entries async throws in
            let before = try await Self.tables(with: Self.token, connection)
            #expect(before.count >= 14, "the test has to fill what it checks: \(before)")
            let preview = try await ErasureStore(connection).preview(
                named: "user-1", of: Self.app, in: .production)
            #expect(try await Self.tables(with: Self.token, connection) == before)
            let certificate = try await Self.forget(.erase, connection)
            #expect(certificate.extent == .erase && certificate.purchases == 2)
            #expect(preview?.purchases == 2 && preview?.payloads == 5 && preview?.grants == 1)
            #expect(preview?.customer == "user-1" && preview?.certificate == nil)
            #expect(try await ErasureStore(connection).certificate(certificate.id) == certificate)
            let account = try #require(UUID(uuidString: Self.token))
            let after = try await ErasureStore(connection).preview(account, of: Self.app, in: .production)
            #expect(after?.certificate == certificate.id && after?.isErased == true && after?.purchases == 0)
            // Purchase 1 has no other account; of purchase 2 only what names the account.
            #expect(certificate.payloads == 5)
            // 30 days after the newest record of a segment, which may be a week younger than the account's.
            #expect(certificate.topicsUntil == Fixtures.now.addingTimeInterval(38 * 86_400))
            #expect(try await Self.tables(with: Self.token, connection) == [])
            #expect(try await Self.tables(with: "user-1", connection) == [])
            // Replayed from Kafka, fetched from Apple again, and renewed.
            var fixtures = Fixtures(seed: 901)
            try await Self.apply(entries, connection)
            var renewed = try Self.entry(&fixtures, account: Self.token.uppercased().lowercased(), day: 9)
            renewed.event?.transaction?.transactionId = "renewed"
            try await Self.apply([renewed], connection)
            var version1 = renewed
            version1.event = nil
            version1.originalTransactionId = nil
            version1.notificationUUID = UUID()
            version1.notification.decoded = Array(#"{"app_account_token":"\#(Self.token.uppercased())"}"#.utf8)
            try await Self.apply([version1], connection)
            #expect(try await Self.tables(with: Self.token, connection) == [])
            let kept = try #require(
                await SubscriptionStore(connection).find(
                    SubscriptionKey(environment: .production, originalTransactionId: "1")))
            #expect(kept.transaction?.transactionId == "renewed" && kept.appAccountToken == nil)
            #expect(kept.transaction?.appTransactionId == nil)
            let published = try await OutboxStore(connection).changes()
            #expect(!published.isEmpty)
            #expect(!published.contains { "\($0.message)".lowercased().contains(Self.token) })
            // Once more: the same certificate.
            let again = try await Self.forget(.erase, connection)
            #expect(again.id == certificate.id && again.erasedAt == certificate.erasedAt)
        }
    }

    @Test(arguments: [[ErasureStore.Extent.erase], [.detach, .erase]])
    func `ErasureStore leaves Apple's id of the customer in no table, unless another account has it`(
        extents: [ErasureStore.Extent]
    ) async throws {
        try await Self.use { connection, _ async throws in
            let (bought, uploaded, shared) = ("710155501234561", "710155501234562", "710155501234563")
            var fixtures = Fixtures(seed: 903)
            var entries = [try Self.entry(&fixtures, purchase: "5", account: Self.token, customer: bought)]
            // Of the same Apple account, without an account of the app.
            entries.append(try Self.entry(&fixtures, purchase: "6", account: nil, day: 1, customer: bought))
            entries += [bought, uploaded, shared].map { Self.appTransaction(&fixtures, of: $0) }
            try await Self.apply(entries, connection)
            for (account, identity) in [(Self.token, uploaded), (Self.token, shared), (Self.other, shared)] {
                try await AccountAppStore(connection).add(
                    AccountAppStore.AccountApp(
                        environment: .production, bundleId: Self.app,
                        appAccountToken: try #require(UUID(uuidString: account)), identity: identity,
                        evidence: .signed, originalApplicationVersion: "1", originalPurchaseDate: nil,
                        recordedAt: Fixtures.now), isRestore: false)
            }
            for extent in extents { _ = try await Self.forget(extent, connection) }
            #expect(try await Self.tables(with: bought, connection) == [])
            #expect(try await Self.tables(with: uploaded, connection) == [])
            #expect(try await Self.tables(with: shared, connection) == ["account_app", "notification_payload"])
        }
    }

    @Test(arguments: ErasureStore.Extent.allCases)
    func `ErasureStore deletes what was reported of the use of the account's purchases, and of no other`(
        extent: ErasureStore.Extent
    ) async throws {
        try await Self.use { connection, _ async throws in
            let reported = [("1", Self.app), ("3", Self.app), ("1", "com.example.second")]
            for (purchase, app) in reported {
                _ = try await connection.execute(
                    unsafeSQL: """
                        insert into usage_report (
                            reported_at, percentage, environment, transaction_id, original_transaction_id, bundle_id,
                            reported_by)
                        values (now(), 5, 'Production', $1::text || '-0', $1::text, $2::text, 'key')
                        """, purchase, app)
            }
            _ = try await Self.forget(extent, connection)
            let left = try await connection.execute(
                unsafeSQL: "select original_transaction_id || bundle_id as left from usage_report order by 1"
            ).map { row in try row.value("left", as: String.self) }
            #expect(left == ["1com.example.second", "3\(Self.app)"])
        }
    }

    /// The ways in which the sweep of an erasure is repeated.
    enum Repeat: String, CaseIterable {
        case byOwnId, byAccount, byCertificate, byItself
    }

    @Test(arguments: Repeat.allCases)
    func `Erasure that failed before its sweep is completed by a repeat, or later by itself`(
        way: Repeat
    ) async throws {
        try await Self.use { connection, _ async throws in
            let store = ErasureStore(connection)
            let id = UUID()
            func erase(_ name: String, id: UUID) async throws -> ErasureStore.Certificate? {
                try await store.forget(
                    named: name, of: Self.app, in: .production, extent: .erase, id: id, at: Fixtures.now)
            }
            try await Self.rename("sweep_erased_account", to: "sweep_missing", connection)
            await #expect(throws: PostgresError.self) { _ = try await erase("user-1", id: id) }
            try await Self.rename("sweep_missing", to: "sweep_erased_account", connection)
            #expect(try await store.certificate(id) != nil)
            #expect(try await Self.tables(with: "user-1", connection).contains("operator_action"))
            let later = Fixtures.now.addingTimeInterval(1)
            switch way {
            case .byOwnId: #expect(try await erase("user-1", id: UUID())?.id == id)
            case .byAccount: #expect(try await erase(Self.token, id: UUID())?.id == id)
            case .byCertificate: try await store.sweep(id)
            case .byItself:
                #expect(try await store.sweepInterrupted(before: Fixtures.now) == 0)
                #expect(try await store.sweepInterrupted(before: later) == 1)
            }
            #expect(try await Self.tables(with: Self.token, connection) == [])
            #expect(try await Self.tables(with: "user-1", connection) == [])
            #expect(try await store.sweepInterrupted(before: later) == 0)
        }
    }

    @Test(arguments: ErasureStore.Extent.allCases)
    func `An erasure leaves no request by which a restore of the account is found again`(
        extent: ErasureStore.Extent
    ) async throws {
        try await Self.use { connection, _ async throws in
            try await connection.run(
                unsafeScript: """
                    insert into purchase_transfer (
                        moved_at, transfer_uuid, from_account_token, to_account_token, environment, is_counted, bundle_id,
                        original_transaction_id, policy, outcome, request_uuid)
                    select now(), gen_random_uuid(), from_account::uuid, to_account::uuid, 'Production', true, '\(Self.app)',
                        '9', 'firstWins', 'policy', gen_random_uuid()
                    from (values ('\(Self.other)', '\(Self.token)'), ('\(Self.token)', '\(Self.other)'))
                        as given (from_account, to_account)
                    """)
            _ = try await Self.forget(extent, connection)
            let rows = try await connection.execute(
                unsafeSQL: """
                    select to_account_token::text as account
                    from purchase_transfer
                    where request_uuid is not null
                    """)
            #expect(try rows.map { row in try row.value("account", as: String.self) } == [Self.other])
        }
    }

    @Test func `A late sweep changes nothing of a customer that was created again under the same id`() async throws {
        try await Self.use { connection, _ async throws in
            let store = ErasureStore(connection)
            try await Self.rename("sweep_erased_account", to: "sweep_missing", connection)
            await #expect(throws: PostgresError.self) { _ = try await Self.forget(.erase, connection) }
            try await Self.rename("sweep_missing", to: "sweep_erased_account", connection)
            let (account, created) = (UUID(), Fixtures.now.addingTimeInterval(60))
            _ = try await CustomerRecords(connection).put(
                CustomerRecords.Customer(
                    id: "user-1", environment: .production, bundleId: Self.app, appAccountToken: account,
                    createdAt: created), isTokenGiven: true)
            try await OperatorActionStore(connection).record([
                OperatorAction(
                    actedAt: created, actor: "ann", operation: "b", subject: "Production \(Self.app) user-1",
                    reason: "user-1 is back",
                    about: OperatorAction.About(.production, Self.app, account: account, customer: "user-1"))
            ])
            let (idempotency, key) = (IdempotencyStore(connection), UUID())
            _ = try await idempotency.claim(
                "b", of: key, digest: Array(repeating: 1, count: 32), at: created, expiry: .distantPast,
                abandoned: .distantPast)
            try await idempotency.complete(
                "b", of: key, claimedAt: created, status: 200, headers: "{}", body: [],
                naming: IdempotencyStore.Named(
                    environment: .production, bundleId: Self.app, appAccountTokens: [account], customerId: "user-1"))
            #expect(try await store.sweepInterrupted(before: created) == 1)
            #expect(try await Self.tables(with: Self.token, connection) == [])
            let rows = try await connection.execute(
                unsafeSQL: """
                    select operation, subject, reason
                    from operator_action
                    where customer_id = 'user-1'
                    """)
            let texts = try rows.map { row in
                try ["operation", "subject", "reason"].map { try row.value($0, as: String.self) }
            }
            #expect(texts == [["b", "Production \(Self.app) user-1", "user-1 is back"]])
            let answers = try await connection.execute(unsafeSQL: "select idempotency_key from api_idempotency")
            #expect(try answers.map { row in try row.value("idempotency_key", as: String.self) } == ["b"])
        }
    }

    @Test func `An erasure sweeps payloads in portions, and a later sweep goes on after them`() async throws {
        try await Self.use { connection, _ async throws in
            let (store, id) = (ErasureStore(connection), UUID())
            var fixtures = Fixtures(seed: 905)
            // As the one that there is, and two of one time, which are in one portion.
            for minute in [1.0, 2, 2, 3, 4] {
                var unknown = fixtures.entry()
                unknown.event = nil
                unknown.originalTransactionId = nil
                unknown.bundleId = Self.app
                unknown.notification.decoded = Array(#"{"app_account_token":"\#(Self.token)"}"#.utf8)
                _ = try await LedgerStore(connection).apply(
                    [unknown], moving: [], recordedAt: Fixtures.now.addingTimeInterval(minute * 60))
            }
            try await connection.run(
                unsafeScript: "alter function sweep_unswept_account(uuid, bigint) rename to sweep_missing")
            await #expect(throws: PostgresError.self) {
                _ = try await store.forget(
                    named: "user-1", of: Self.app, in: .production, extent: .erase, id: id, at: Fixtures.now)
            }
            try await connection.run(
                unsafeScript: "alter function sweep_missing(uuid, bigint) rename to sweep_unswept_account")
            func left() async throws -> Int64 {
                try await connection.execute(
                    unsafeSQL: """
                        select count(*) as payloads
                        from notification_payload
                        where position('\(Self.token)' in decoded::text) > 0
                        """)[0].value("payloads")
            }
            #expect(try await left() == 6)
            for expected in [Int64(5), 4, 2] {
                let rows = try await connection.execute(
                    unsafeSQL: "select sweep_unswept_account($1::uuid, 1) as is_left", id)
                #expect(try rows[0].value("is_left", as: Bool.self))
                #expect(try await left() == expected)
            }
            try await store.sweep(id, portion: 1)
            #expect(try await left() == 0)
            #expect(try await Self.tables(with: Self.token, connection) == [])
            #expect(try await store.sweepInterrupted(before: .distantFuture) == 0)
        }
    }

    @Test func `A sweep reads the audit log without the lock for which another erasure would wait`() async throws {
        try await Self.use { connection, _ async throws in
            try await connection.run(
                unsafeScript: """
                    create function refuse_lock() returns trigger language plpgsql
                    as $$
                    begin
                        if exists (
                            select from pg_locks
                            where pid = pg_backend_pid() and relation = 'erased_account'::regclass)
                        then
                            raise exception 'erased_account is locked';
                        end if;
                        return new;
                    end $$;
                    create trigger refuse_lock before update on operator_action for each row
                    execute function refuse_lock()
                    """)
            _ = try await Self.forget(.erase, connection)
            #expect(try await Self.tables(with: Self.token, connection) == [])
            #expect(try await Self.tables(with: "user-1", connection) == [])
        }
    }

    @Test func `A sweep that fails keeps back no other one`() async throws {
        try await Self.use { connection, _ async throws in
            let store = ErasureStore(connection)
            func unswept() async throws -> [String] {
                try await connection.execute(
                    unsafeSQL: """
                        select unswept_account::text as account
                        from erased_account
                        where unswept_account is not null
                        order by erased_at
                        """
                ).map { row in try row.value("account") }
            }
            try await Self.rename("sweep_erased_account", to: "sweep_missing", connection)
            for (place, name) in [Self.token, Self.other].enumerated() {
                await #expect(throws: PostgresError.self) {
                    _ = try await store.forget(
                        named: name, of: Self.app, in: .production, extent: .erase, id: UUID(),
                        at: Fixtures.now.addingTimeInterval(Double(place)))
                }
            }
            try await Self.rename("sweep_missing", to: "sweep_erased_account", connection)
            #expect(try await unswept() == [Self.token, Self.other])
            try await connection.run(
                unsafeScript: """
                    create function break_row() returns trigger language plpgsql
                    as $$ begin raise exception 'broken'; end $$;
                    create trigger broken before update on operator_action for each row
                    when (old.app_account_token = '\(Self.token)') execute function break_row()
                    """)
            let later = Fixtures.now.addingTimeInterval(9)
            await #expect(throws: PostgresError.self) { _ = try await store.sweepInterrupted(before: later) }
            #expect(try await unswept() == [Self.token])
            try await connection.run(unsafeScript: "drop trigger broken on operator_action")
            #expect(try await store.sweepInterrupted(before: later) == 1)
            #expect(try await unswept().isEmpty)
        }
    }

    @Test func `Erasure and its row of the audit log are written both or neither`() async throws {
        try await Self.use { connection, _ in
            let account = try #require(UUID(uuidString: Self.token))
            func erase(reason: String) async throws {
                _ = try await ErasureStore(connection).forget(
                    account, of: Self.app, in: .production, extent: .erase, id: UUID(), at: Fixtures.now
                ) { certificate in
                    OperatorAction(
                        actedAt: Fixtures.now, actor: "anna", operation: "customers erase",
                        subject: certificate.subject, reason: reason)
                }
            }
            func rows() async throws -> Int {
                try await OperatorActionStore(connection).newest(10).count { $0.operation == "customers erase" }
            }
            // Postgres stores no text with a zero byte.
            await #expect(throws: PostgresError.self) { try await erase(reason: "a\u{0}b") }
            #expect(try await ErasureStore(connection).isErased(account, of: Self.app, in: .production) == false)
            #expect(try await rows() == 0)
            try await erase(reason: "asked by the customer")
            #expect(try await ErasureStore(connection).isErased(account, of: Self.app, in: .production))
            #expect(try await rows() == 1)
        }
    }

    @Test func `ErasureStore leaves other accounts their purchases and payloads`() async throws {
        try await Self.use { connection, _ async throws in
            _ = try await Self.forget(.erase, connection)
            let purchase = SubscriptionKey(environment: .production, originalTransactionId: "2")
            let kept = try #require(await SubscriptionStore(connection).find(purchase))
            #expect(kept.appAccountToken == Self.other && kept.transaction?.appTransactionId == "70")
            let access = try await AccessStore(connection).access(
                ofAccount: Self.other, of: Self.app, in: .production, at: Fixtures.now)
            #expect(access?.map(\.key) == [purchase])
            #expect(try await Self.tables(with: Self.other, connection).contains("notification_payload"))
        }
    }

    @Test func `ErasureStore takes access from a detached account, keeps its payloads, and may erase it later`()
        async throws
    {
        try await Self.use { connection, entries async throws in
            let certificate = try await Self.forget(.detach, connection)
            #expect(certificate.extent == .detach && certificate.payloads == 0)
            let tables = try await Self.tables(with: Self.token, connection)
            #expect(tables == ["conflicting_notification", "notification_payload"])
            try await Self.apply(entries, connection)
            #expect(
                try await AccessStore(connection).access(
                    ofAccount: Self.token, of: Self.app, in: .production, at: Fixtures.now) ?? [] == [])
            let erased = try await Self.forget(.erase, connection)
            #expect(erased.id == certificate.id && erased.extent == .erase && erased.payloads == 5)
            #expect(try await Self.tables(with: Self.token, connection) == [])
        }
    }

    @Test(arguments: ErasureStore.Extent.allCases)
    func `ErasureStore changes no row of another app or environment that has the same token and the same id`(
        extent: ErasureStore.Extent
    ) async throws {
        try await Self.use { connection, _ async throws in
            let account = try #require(UUID(uuidString: Self.token))
            let (records, idempotency) = (CustomerRecords(connection), IdempotencyStore(connection))
            let places: [(StoreEnvironment, String)] = [(.sandbox, Self.app), (.production, "com.example.second")]
            for (environment, bundleId) in places {
                _ = try await records.put(
                    CustomerRecords.Customer(
                        id: "user-1", environment: environment, bundleId: bundleId, appAccountToken: account,
                        createdAt: Fixtures.now), isTokenGiven: true)
                var grant = Self.grant
                (grant.id, grant.environment, grant.bundleId) = (UUID(), environment, bundleId)
                _ = try await connection.pipeline([CustomerRecords.command(adding: grant)])
                let about = OperatorAction.About(environment, bundleId, account: account, customer: "user-1")
                try await OperatorActionStore(connection).record([
                    // As the texts of the erased app would be.
                    OperatorAction(
                        actedAt: Fixtures.now, actor: "bob", operation: "customers grant",
                        subject: "Production \(Self.app) user-1", reason: "For \(Self.token)", about: about),
                    OperatorAction(
                        actedAt: Fixtures.now, actor: "bob", operation: "keys create", subject: Self.token,
                        reason: "About No App, \(Self.token)"),
                ])
                let key = UUID()
                _ = try await idempotency.claim(
                    "a", of: key, digest: Array(repeating: 1, count: 32), at: Fixtures.now, expiry: .distantPast,
                    abandoned: .distantPast)
                try await idempotency.complete(
                    "a", of: key, claimedAt: Fixtures.now, status: 200, headers: "{}", body: Array(Self.token.utf8),
                    naming: IdempotencyStore.Named(
                        environment: environment, bundleId: bundleId, appAccountTokens: [account], customerId: "user-1")
                )
            }
            let foreign = Statement(
                unsafeSQL: """
                    select row::text as text from operator_action as row
                    where (environment, bundle_id) is distinct from ('Production', '\(Self.app)')
                    union all
                    select row::text from api_idempotency as row
                    where (environment, bundle_id) is distinct from ('Production', '\(Self.app)')
                    union all
                    select row::text from customer as row
                    where (environment, bundle_id) is distinct from ('Production', '\(Self.app)')
                    union all
                    select row::text from manual_grant as row
                    where (environment, bundle_id) is distinct from ('Production', '\(Self.app)')
                    order by 1
                    """)
            func rows() async throws -> [String] {
                try await connection.execute(foreign).map { row in try row.value("text") }
            }
            let before = try await rows()
            #expect(before.count == 10)
            let certificate = try await Self.forget(extent, connection)
            #expect(try await rows() == before)
            let own = try await OperatorActionStore(connection).actions(on: [
                "erased account \(certificate.id.uuidString.lowercased())"
            ])
            #expect(own.count == 3)
            let instead = "erased account \(certificate.id.uuidString.lowercased())"
            #expect(own.allSatisfy { $0.reason == "\(instead) asked for \(instead)" && $0.actor == "ann" })
        }
    }

    @Test(arguments: ErasureStore.Extent.allCases)
    func `ErasureStore raises the version of an account that another app has, and never sets it back`(
        extent: ErasureStore.Extent
    ) async throws {
        try await Self.use { connection, _ async throws in
            var grant = Self.grant
            (grant.id, grant.bundleId) = (UUID(), "com.example.second")
            _ = try await connection.pipeline([CustomerRecords.command(adding: grant)])
            func version() async throws -> Int64? {
                try await connection.execute(
                    unsafeSQL: """
                        select version from account_version
                        where app_account_token = $1::text::uuid and environment = 'Production'
                        """, Self.token
                ).first?.value("version")
            }
            let before = try #require(try await version())
            _ = try await Self.forget(extent, connection)
            let after = try #require(try await version())
            #expect(after > before)
            let grants = try await CustomerRecords(connection).grants(
                of: grant.appAccountToken, of: grant.bundleId, in: .production)
            #expect(grants.count == 1)
        }
    }

    @Test func `ErasureStore knows no account of which nothing is stored, and writes nothing`() async throws {
        try await Self.use { connection, _ async throws in
            let store = ErasureStore(connection)
            let before = try await Self.tables(with: "", connection)
            let account = try #require(UUID(uuidString: Self.token))
            let strangers: [(UUID, String, StoreEnvironment)] = [
                (UUID(), Self.app, .production), (account, Self.app, .sandbox),
                (account, "com.example.second", .production),
            ]
            for (stranger, bundleId, environment) in strangers {
                for extent in ErasureStore.Extent.allCases {
                    let certificate = try await store.forget(
                        stranger, of: bundleId, in: environment, extent: extent, id: UUID(), at: Fixtures.now)
                    #expect(certificate == nil)
                }
                #expect(try await store.preview(stranger, of: bundleId, in: environment) == nil)
                #expect(
                    try await store.preview(named: stranger.uuidString, of: bundleId, in: environment) == nil)
            }
            #expect(try await Self.tables(with: "", connection) == before)
            #expect(try await connection.execute(unsafeSQL: "select from erased_account").affected == 0)
        }
    }

    @Test func `An erasure of an unknown account takes no lock for which the pipeline would wait`()
        async throws
    {
        try await LedgerStoreTests.use { connection, database async throws in
            let batch = TestDatabase.connection(database)
            try await batch.run(unsafeScript: "begin; lock table erased_account in access share mode")
            // A lock would not be granted within its time.
            let certificate = try await ErasureStore(connection).forget(
                UUID(), of: Self.app, in: .production, extent: .erase, id: UUID(), at: Fixtures.now)
            #expect(certificate == nil)
            try await batch.run(unsafeScript: "rollback")
        }
    }

    @Test(arguments: [[ErasureStore.Extent.erase, .erase], [.detach, .detach], [.erase, .detach]])
    func `An erasure that is repeated takes no lock for which the pipeline would wait`(
        extents: [ErasureStore.Extent]
    ) async throws {
        try await Self.useDatabase { connection, _, database async throws in
            let account = try #require(UUID(uuidString: Self.token))
            func forget(_ extent: ErasureStore.Extent) async throws -> ErasureStore.Certificate? {
                try await ErasureStore(connection).forget(
                    account, of: Self.app, in: .production, extent: extent, id: UUID(), at: Fixtures.now
                ) { certificate in
                    OperatorAction(
                        actedAt: Fixtures.now, actor: "anna", operation: "customers \(extent.rawValue)",
                        subject: certificate.subject, reason: nil)
                }
            }
            let first = try #require(try await forget(extents[0]))
            let batch = TestDatabase.connection(database)
            try await batch.run(unsafeScript: "begin; lock table erased_account in access share mode")
            // A lock would not be granted within its time.
            #expect(try await forget(extents[1]) == first)
            try await batch.run(unsafeScript: "rollback")
            await batch.close()
            let actions = try await OperatorActionStore(connection).actions(on: [first.subject])
            #expect(actions.map(\.operation).sorted() == extents.map { "customers \($0.rawValue)" }.sorted())
        }
    }

    @Test func `An erasure of a detached account locks, because the pipeline has to know of it`() async throws {
        try await Self.use { connection, _ async throws in
            _ = try await Self.forget(.detach, connection)
            for isComplete in [false, true] {
                let (isLocked, modes) = try await connection.transaction { transaction in
                    let asked = Statement(
                        unsafeSQL: """
                            select lock_erasures('Production', '\(Self.app)', '\(Self.token)', \(isComplete)) as is_locked
                            """)
                    let held = Statement(
                        unsafeSQL: """
                            select mode
                            from pg_locks
                            where pid = pg_backend_pid() and relation = 'erased_account'::regclass
                            """)
                    return (
                        try transaction.execute(asked)[0].value("is_locked", as: Bool.self),
                        try transaction.execute(held).map { row in try row.value("mode", as: String.self) }
                    )
                }
                #expect(isLocked == isComplete && modes.contains("AccessExclusiveLock") == isComplete)
            }
        }
    }

    /// An erasure is refused at once where a transaction has held its table for a minute: each attempt would hold up the pipeline.
    @Test func `A table that another transaction holds is known by how long it does`() async throws {
        try await LedgerStoreTests.use { connection, database async throws in
            func isHeld(longerThan interval: String) async throws -> Bool {
                let asked = "select is_held_longer('erased_account', interval '\(interval)') as is_held"
                return try await connection.execute(Statement(unsafeSQL: asked))[0].value("is_held")
            }
            let dump = TestDatabase.connection(database)
            try await dump.run(unsafeScript: "begin; lock table customer in access share mode")
            #expect(try await !isHeld(longerThan: "0"))
            try await dump.run(unsafeScript: "lock table erased_account in access share mode")
            #expect(try await isHeld(longerThan: "0"))
            #expect(try await !isHeld(longerThan: "1 hour"))
            try await dump.run(unsafeScript: "rollback")
            #expect(try await !isHeld(longerThan: "0"))
        }
    }

    @Test func `Whether an account is known is read by indexes by account`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            try await connection.run(
                unsafeScript: """
                    insert into purchase_transfer (
                        moved_at, transfer_uuid, from_account_token, to_account_token, environment, is_counted, bundle_id,
                        original_transaction_id, policy, outcome)
                    select now(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'Production', true,
                        '\(Self.app)', number::text, 'firstWins', 'accepted'
                    from generate_series(1, 5000) as number;
                    insert into shared_account_notice (
                        noticed_at, notification_uuid, app_account_token, first_account_token, environment, bundle_id,
                        original_transaction_id)
                    select now(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'Production', '\(Self.app)',
                        number::text
                    from generate_series(1, 5000) as number;
                    insert into operator_action (
                        acted_at, app_account_token, environment, actor, operation, subject, bundle_id)
                    select now(), gen_random_uuid(), 'Production', 'ann', 'a', number::text, '\(Self.app)'
                    from generate_series(1, 5000) as number;
                    analyze purchase_transfer, shared_account_notice, operator_action
                    """)
            // is_account_known asks these.
            for (table, accounts) in [
                ("purchase_transfer", "in (from_account_token, to_account_token)"),
                ("shared_account_notice", "in (app_account_token, first_account_token)"),
                ("operator_action", "= app_account_token"),
            ] {
                let plan = try await connection.execute(
                    unsafeSQL: """
                        explain (costs off)
                        select
                        from \(table)
                        where '\(Self.token)'::uuid \(accounts) and environment = 'Production'
                            and bundle_id = '\(Self.app)'
                        """
                ).map { row in try row.value(at: 0, as: String.self) }.joined(separator: "\n")
                #expect(!plan.contains("Seq Scan") && plan.contains("_account"), "\(plan)")
                #expect(!plan.contains("_by_purchase") && !plan.contains("_by_app"), "\(plan)")
            }
        }
    }

    @Test func `ErasureStore lets an erased account get no records again`() async throws {
        try await Self.use { connection, _ async throws in
            _ = try await Self.forget(.erase, connection)
            let refused = await #expect(throws: PostgresError.self) {
                _ = try await connection.pipeline([CustomerRecords.command(adding: Self.grant)])
            }
            #expect(refused?.sqlState == ErasureStore.rejectedState)
            await #expect(throws: PostgresError.self) { try await ConsentStore(connection).add(Self.consent) }
            await #expect(throws: PostgresError.self) {
                try await SharingStore(connection).choose(Self.token, of: Self.app, in: .production, at: Fixtures.now)
            }
            var fixtures = Fixtures(seed: 902)
            let account = UUID(uuidString: Self.token)
            let preview = try await StatePreviewStore(connection).preview(
                of: [Self.entry(&fixtures, purchase: "9", account: Self.token)],
                in: CoverageStore.App(.production, Self.app), account: account, at: Fixtures.now)
            #expect(preview.isAccountErased)
            #expect(preview.purchases.values.allSatisfy { $0.subscription.appAccountToken != Self.token })
        }
    }

    @Test func `Apple's id does not come back by renewal info that alone names the erased account`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 904)
            let customer = "710155501234564"
            func entry(day: Double) throws -> LedgerEntry {
                var entry = try Self.entry(&fixtures, account: Self.token, day: day, customer: customer)
                entry.event?.transaction?.appAccountToken = nil
                return entry
            }
            try await Self.apply([entry(day: 0)], connection)
            #expect(try await Self.tables(with: customer, connection).contains("subscription"))
            _ = try await Self.forget(.erase, connection)
            #expect(try await Self.tables(with: customer, connection) == [])
            try await Self.apply([entry(day: 1)], connection)
            #expect(try await Self.tables(with: customer, connection) == [])
        }
    }

    @Test(arguments: ErasureStore.Extent.allCases)
    func `A payload about an erased purchase that names no account is stored again with its next account`(
        extent: ErasureStore.Extent
    ) async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 905)
            let customer = "710155501234565"
            func stored(_ entry: LedgerEntry) async throws -> Int {
                try await Self.apply([entry], connection)
                return try await connection.execute(
                    unsafeSQL: "select from notification_payload where notification_uuid = $1::uuid",
                    entry.notificationUUID
                ).affected
            }
            func unnamed(day: Double, purchase: String = "1") throws -> LedgerEntry {
                try Self.entry(&fixtures, purchase: purchase, account: nil, day: day, customer: customer)
            }
            try await Self.apply([Self.entry(&fixtures, account: Self.token, customer: customer)], connection)
            _ = try await Self.forget(extent, connection)
            let kept = extent == .detach ? 1 : 0
            #expect(try await stored(unnamed(day: 1)) == kept)
            if extent == .erase { #expect(try await Self.tables(with: customer, connection) == []) }
            #expect(try await stored(unnamed(day: 2, purchase: "3")) == 1)
            // Of one batch, whichever comes first.
            let (before, next) = (try unnamed(day: 3), try Self.entry(&fixtures, account: Self.other, day: 4))
            try await Self.apply([before, next], connection)
            for entry in try [before, next, unnamed(day: 5)] { #expect(try await stored(entry) == 1) }
        }
    }

    @Test func `Erasing a detached account leaves a purchase to the account that uses it since`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 907)
            let customer = "710155501234566"
            try await Self.apply([Self.entry(&fixtures, account: Self.token, customer: customer)], connection)
            try await Self.apply(
                [Self.entry(&fixtures, purchase: "2", account: nil, day: 1, customer: customer)], connection)
            _ = try await Self.forget(.detach, connection)
            try await Self.apply(
                [Self.entry(&fixtures, purchase: "3", account: Self.other, day: 2, customer: customer)], connection)
            let used = Statement(
                unsafeSQL: """
                    select original_transaction_id as id
                    from purchase_account join subscription using (environment, original_transaction_id)
                    where purchase_account.app_account_token = '\(Self.other)' and may_use and app_transaction_id = '\(customer)'
                    order by 1
                    """)
            func purchases() async throws -> [String] {
                try await connection.execute(used).map { row in try row.value("id") }
            }
            let before = try await purchases()
            #expect(before.contains("2"))
            _ = try await Self.forget(.erase, connection)
            let after = try await purchases()
            #expect(after == before)
        }
    }

    @Test func `A preview without a claim joins an erased purchase to no other one, as the state after it`()
        async throws
    {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 906)
            let first = try Self.entry(&fixtures, account: Self.token)
            let second = try Self.entry(&fixtures, purchase: "2", account: Self.other, day: 1)
            try await Self.apply([first, second], connection)
            _ = try await Self.forget(.erase, connection)
            let other = try #require(UUID(uuidString: Self.other))
            let entry = try Self.entry(&fixtures, account: nil, day: 2)
            let preview = try await StatePreviewStore(connection).preview(
                of: [entry], in: CoverageStore.App(.production, Self.app), account: other, at: Fixtures.now)
            try await Self.apply([entry], connection)
            let usable = try await connection.execute(
                unsafeSQL: """
                    select original_transaction_id
                    from purchase_account
                    where app_account_token = $1::uuid and may_use
                    """, other
            ).map { row in try row.value(at: 0, as: String.self) }
            #expect(usable == ["2"])
            #expect(preview.usable(by: other).map(\.originalTransactionId) == usable)
        }
    }

    @Test func `An app transaction that is uploaded while its account is erased goes to the other account that has it`()
        async throws
    {
        try await LedgerStoreTests.use { connection, database async throws in
            let account = try #require(UUID(uuidString: Self.token))
            let next = try #require(UUID(uuidString: Self.other))
            func upload(_ account: UUID, _ evidence: ClaimEvidence) -> AccountAppStore.AccountApp {
                AccountAppStore.AccountApp(
                    environment: .production, bundleId: Self.app, appAccountToken: account, identity: "80",
                    evidence: evidence, originalApplicationVersion: "1", originalPurchaseDate: nil,
                    recordedAt: Fixtures.now)
            }
            func isEntitled() async throws -> Bool? {
                try await AccountAppStore(connection).firstPurchases(of: next, in: .production).first?.isEntitled
            }
            _ = try await CustomerRecords(connection).put(
                CustomerRecords.Customer(
                    id: "user-1", environment: .production, bundleId: Self.app, appAccountToken: account,
                    createdAt: Fixtures.now), isTokenGiven: true)
            try await AccountAppStore(connection).add(upload(next, .signed), isRestore: false)
            #expect(try await isEntitled() == true)
            let (holder, uploader) = (TestDatabase.connection(database), TestDatabase.connection(database))
            let eraser = TestDatabase.connection(database)
            // The upload waits for the lock of its app transaction; it has begun, and has stored nothing.
            try await holder.run(
                unsafeScript: """
                    begin;
                    select pg_advisory_xact_lock(
                        hashtextextended(current_schema() || ' app Production \(Self.app) 80', 0))
                    """)
            try await withThrowingTaskGroup(of: Void.self) { group in
                let stronger = upload(account, .device)
                group.addTask { _ = try await AccountAppStore(uploader).add(stronger, isRestore: false) }
                _ = try await TestDatabase.blockedBackends(asking: connection)
                group.addTask { _ = try await Self.forget(.detach, eraser) }
                _ = try await TestDatabase.blockedBackends(2, asking: connection)
                try await holder.run(unsafeScript: "rollback")
                try await group.waitForAll()
            }
            #expect(try await isEntitled() == true)
            for used in [holder, uploader, eraser] { await used.close() }
        }
    }

    @Test func `An account that claims on the same Apple account while another one is erased is decided about at once`()
        async throws
    {
        try await LedgerStoreTests.use { connection, database async throws in
            var fixtures = Fixtures(seed: 908)
            try await Self.apply([Self.entry(&fixtures, account: Self.token)], connection)
            try await SharingStore(connection).setPolicy(.refuse, of: Self.app, in: .production, at: Fixtures.now)
            let claim = AccountClaim(
                key: SubscriptionKey(environment: .production, originalTransactionId: "2"), bundleId: Self.app,
                appTransactionId: "70", appAccountToken: Self.other, evidence: .signed, since: Fixtures.now)
            let (holder, uploader) = (TestDatabase.connection(database), TestDatabase.connection(database))
            let eraser = TestDatabase.connection(database)
            // The claim is written, and waits for the lock of its purchase.
            try await holder.run(
                unsafeScript: """
                    begin;
                    select pg_advisory_xact_lock(
                        hashtextextended(current_schema() || ' purchase Production \(Self.app) 2', 0))
                    """)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await CustomerStore(uploader).add([claim]) }
                _ = try await TestDatabase.blockedBackends(asking: connection)
                group.addTask { _ = try await Self.forget(.erase, eraser) }
                _ = try await TestDatabase.blockedBackends(2, asking: connection)
                try await holder.run(unsafeScript: "rollback")
                try await group.waitForAll()
            }
            let held = try await OwnershipStoreTests.rows(connection).held
            #expect(held.map(\.appAccountToken) == [Self.other] && held.map(\.because) == [.claim])
            try await OwnershipStoreTests.expectDecided(connection)
            for used in [holder, uploader, eraser] { await used.close() }
        }
    }

    @Test func `ErasureStore misses no batch of the account that is applied meanwhile`() async throws {
        try await LedgerStoreTests.use { connection, database async throws in
            let writers = (0..<3).map { _ in TestDatabase.connection(database) }
            var first = Fixtures(seed: 909)
            try await Self.apply([Self.entry(&first, purchase: "0", account: Self.token)], connection)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, writer) in writers.enumerated() {
                    group.addTask {
                        var fixtures = Fixtures(seed: 910 + UInt64(number))
                        for round in 0..<30 {
                            let batch = try (0..<5).map { index in
                                try Self.entry(
                                    &fixtures, purchase: "\(number)-\(index)", account: Self.token,
                                    day: Double(round))
                            }
                            try await Self.apply(batch, writer)
                        }
                    }
                }
                group.addTask { _ = try await Self.forget(.erase, connection) }
                try await group.waitForAll()
            }
            #expect(try await Self.tables(with: Self.token, connection) == [])
            for writer in writers { await writer.close() }
        }
    }
}
