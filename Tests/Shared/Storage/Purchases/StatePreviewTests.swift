import Contracts
import Foundation
import Postgres
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// The preview before the pipeline equals the state after it.
///
/// `PREVIEW_SCENARIOS=10000 PREVIEW_SEED=1 swift test --filter StatePreviewTests` runs more scenarios or others. Processes whose
/// seeds are as far apart as their scenarios are many run parts of the same ones, each in a database of its own.
@Suite(.serialized) struct StatePreviewTests {
    static let count = UInt64(ProcessInfo.processInfo.environment["PREVIEW_SCENARIOS"] ?? "") ?? 80
    static let seed = UInt64(ProcessInfo.processInfo.environment["PREVIEW_SEED"] ?? "") ?? 0

    /// A few customers of an app of their own, so that all scenarios fit into one database.
    struct Scenario {
        var app: String
        var stored: [LedgerEntry]
        var uploaded: [LedgerEntry]
        var tokens: [UUID]
        var generator: SeededGenerator

        init(seed: UInt64) {
            var generator = SeededGenerator(state: seed)
            let app = "com.example.app\(seed)"
            let tokens = (0..<UInt64(5)).map { Self.token(seed &* 8 &+ $0) }
            let namedSince = Fixtures.epoch.addingTimeInterval(
                .random(in: -10...40, using: &generator) * 86_400)
            let all = CustomerStoreTests.entries(seed: seed).shuffled(using: &generator).prefix(
                .random(in: 1...40, using: &generator)
            ).map { entry in
                var entry = entry
                let id = "\(seed)-\(entry.originalTransactionId ?? "")"
                entry.originalTransactionId = id
                entry.event?.key.originalTransactionId = id
                entry.event?.transaction?.transactionId += "-\(seed)"
                // One customer for each two purchases; mostly one account for each customer, sometimes another or none.
                let customer = (Int(id.suffix(1)) ?? 0) / 2
                let dice = Int.random(in: 0..<12, using: &generator)
                let token = dice < 3 ? nil : tokens[dice == 3 ? (customer + 1) % 5 : customer].uuidString.lowercased()
                // Apple's id of the customer is in all transactions from some day on.
                let isNamed = entry.event.map { $0.version.signedDate >= namedSince } ?? false
                entry.event?.transaction?.appTransactionId = isNamed ? "\(seed)-\(customer)" : nil
                entry.event?.transaction?.appAccountToken = token
                entry.event?.renewal?.appAccountToken = dice % 2 == 0 ? token : nil
                // Apple gives an id to one app only; some purchases are of another one of the same customer.
                entry.event?.bundleId = id.hasSuffix("8") ? "com.example.other" : app
                return entry
            }
            self.app = app
            self.tokens = tokens
            let share = Int.random(in: 0...4, using: &generator)
            var stored: [LedgerEntry] = []
            var uploaded: [LedgerEntry] = []
            for entry in all {
                let dice = Int.random(in: 0..<4, using: &generator)
                if dice < share { stored.append(entry) }
                // Some are in the ledger already.
                if dice >= share || Int.random(in: 0..<5, using: &generator) == 0 { uploaded.append(entry) }
            }
            self.stored = stored
            self.uploaded = uploaded.shuffled(using: &generator)
            self.generator = generator
        }

        /// Of the scenario alone: thousands of apps with the same accounts would be slow.
        private static func token(_ number: UInt64) -> UUID {
            UUID(uuid: withUnsafeBytes(of: (UInt64(0x4a4e).bigEndian, number.bigEndian)) { $0.load(as: uuid_t.self) })
        }

        func moments() -> [Date] {
            let days = [-1.0, 0, 3, 11, 29, 41, 70]
            return days.map { Fixtures.epoch.addingTimeInterval($0 * 86_400 + 0.5) }
        }
    }

    static func check(_ scenario: Scenario, on connection: PostgresConnection) async throws {
        var generator = scenario.generator
        let ledger = LedgerStore(connection)
        let sharing = SharingStore(connection)
        let policy = SharingPolicy.allCases.randomElement(using: &generator) ?? .standard
        try await sharing.setPolicy(
            policy, mostAccounts: .random(in: 1...5, using: &generator), of: scenario.app, in: .production,
            at: Fixtures.now)
        if Bool.random(using: &generator) {
            try await sharing.choose(
                scenario.tokens[0].uuidString, of: scenario.app, in: .production, at: Fixtures.now)
        }
        _ = try await ledger.apply(scenario.stored, moving: [], recordedAt: Fixtures.now)
        let uploader = scenario.tokens.randomElement(using: &generator)
        let claim = uploader.map {
            UploadClaim(
                appAccountToken: $0, uploadedAt: Fixtures.now, includesOwned: Bool.random(using: &generator),
                evidence: scenario.uploaded.reduce(into: [:]) { evidence, entry in
                    guard let id = entry.event?.key.originalTransactionId else { return }
                    evidence[id] = [.operator, .device, .signed, .old, nil].randomElement(using: &generator) ?? nil
                })
        }
        let app = CoverageStore.App(.production, scenario.app)
        let previews = try await scenario.tokens.asyncMap { token in
            try await StatePreviewStore(connection).preview(
                of: scenario.uploaded, in: app, account: token, claiming: claim, at: Fixtures.now)
        }
        // The claims are written at once, and the pipeline applies the entries later.
        if let claim {
            let recorded = try await StatePreviewStore(connection).record(
                scenario.uploaded, in: app, account: claim.appAccountToken, claiming: claim, at: Fixtures.now
            ) { _ in [] }
            #expect(Set(recorded.claims) == Set(previews[0].claims))
            #expect(Self.sorted(recorded.transfers) == Self.sorted(previews[0].transfers))
            // The same upload once more has nothing to write.
            let again = try await StatePreviewStore(connection).preview(
                of: scenario.uploaded, in: app, claiming: claim, at: Fixtures.now.addingTimeInterval(1))
            let isRefused = recorded.transfers.contains { $0.outcome == .tooMany }
            #expect(isRefused || again.claims.isEmpty, "\(scenario.app)")
        }
        _ = try await ledger.apply(scenario.uploaded, moving: [], recordedAt: Fixtures.now.addingTimeInterval(1))
        try await OwnershipStoreTests.expectDecided(connection, of: scenario.app)
        let stored = try await Stored(
            scenario, of: Set(previews.flatMap(\.purchases.keys)).sorted(), on: connection)
        for (index, (token, preview)) in zip(scenario.tokens, previews).enumerated() {
            for (key, purchase) in preview.purchases {
                #expect(purchase.periods == stored.periods[key] ?? [], "\(scenario.app) \(key)")
                #expect(purchase.subscription == stored.subscriptions[key], "\(scenario.app) \(key)")
            }
            for (moment, after) in zip(scenario.moments(), stored.access[index]) {
                let before = Self.access(of: token, by: preview, in: scenario.app, at: moment)
                guard before.map(Self.sorted) != after.map(Self.sorted) else { continue }
                let claims = try await CustomerStore(connection).claims(of: scenario.app, in: .production)
                let owners = preview.purchases.values.map { OwnedPurchase($0.subscription) }
                Issue.record(
                    """
                    \(scenario.app) \(policy) account \(token) at \(moment): \(before ?? []) before, \(after ?? []) after
                    \(claims.map { "\($0)" }.joined(separator: "\n"))
                    \(owners.map { "\($0)" }.joined(separator: "\n"))
                    """)
            }
        }
    }

    /// Nil where the account neither owns nor claims a purchase of the app, nor may use one.
    private static func access(
        of token: UUID, by preview: StatePreview, in app: String, at moment: Date
    ) -> [AccessStore.Period]? {
        guard !preview.reasons(of: token).isEmpty else { return nil }
        return preview.usable(by: token).flatMap { preview.purchases[$0]?.periods ?? [] }
            .filter { $0.bundleId == app && $0.contains(moment) }
    }

    private static func sorted(_ transfers: [TransferStore.Transfer]) -> [TransferStore.Transfer] {
        transfers.sorted { $0.key < $1.key }
    }

    /// What the database answers after the pipeline, read in one round trip, because there are thousands of scenarios.
    struct Stored {
        var subscriptions: [SubscriptionKey: Subscription] = [:]
        var periods: [SubscriptionKey: [AccessStore.Period]] = [:]
        /// For each account, at each moment; nil where no purchase names the account.
        var access: [[[AccessStore.Period]?]] = []

        init(_ scenario: Scenario, of keys: [SubscriptionKey], on connection: PostgresConnection) async throws {
            let (environment, moments) = (StoreEnvironment.production.rawValue, scenario.moments())
            let accounts = scenario.tokens.flatMap { token in
                [
                    Command(AccessStore.isKnown, token, environment, scenario.app),
                    Command(Self.accessOfAccount, token, environment, scenario.app),
                ]
            }
            let rows = try await connection.pipeline(
                [SubscriptionStatements.command(reading: keys), Command(Self.accessOfPurchases)]
                    + accounts)
            for row in rows[0] {
                let known = try SubscriptionColumns.read(row).subscription
                subscriptions[known.key] = known
            }
            periods = Dictionary(
                grouping: try rows[1].map { row in
                    AccessStore.Period(try AccessPeriodRow.read(row), until: try row.optional("until"))
                }.filter { keys.contains($0.key) }, by: \.key
            ).mapValues { $0.sorted { $0.startsAt < $1.startsAt } }
            for place in stride(from: 2, to: rows.count, by: 2) {
                let isKnown: Bool = try rows[place][0].value("is_known")
                let periods = try rows[place + 1].map { row in
                    AccessStore.Period(try AccessPeriodRow.read(row), until: try row.optional("until"))
                }
                access.append(moments.map { moment in isKnown ? periods.filter { $0.contains(moment) } : nil })
            }
        }

        static let accessOfPurchases = Statement(
            "test-access-of-purchases", unsafeSQL: "select \(AccessPeriodRow.selected), until from access")

        /// `AccessStore.ofAccount` at all moments.
        static let accessOfAccount = Statement(
            "test-access-of-account",
            unsafeSQL: """
                select \(AccessPeriodRow.selected), until
                from account_access
                where app_account_token = $1::uuid and environment = $2::text::store_environment
                    and bundle_id = $3::text
                """)
    }

    static func sorted(_ periods: [AccessStore.Period]) -> [AccessStore.Period] {
        periods.sorted { ($0.startsAt, $0.key) < ($1.startsAt, $1.key) }
    }

    @Test func `StatePreview of any uploads is what the ledger then holds, for every account and policy`() async throws
    {
        try await LedgerStoreTests.use { _, database async throws in
            // The scenarios are of different apps, so they may run beside each other.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for first in 0..<UInt64(2) {
                    group.addTask {
                        let connection = TestDatabase.connection(database)
                        for number in stride(from: first, to: Self.count, by: 2) {
                            try await Self.check(Scenario(seed: Self.seed &+ 40_000 &+ number), on: connection)
                        }
                        await connection.close()
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func `StatePreview writes nothing`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            let scenario = Scenario(seed: 39_999)
            let preview = try await StatePreviewStore(connection).preview(
                of: scenario.stored + scenario.uploaded, in: CoverageStore.App(.production, scenario.app),
                at: Fixtures.now)
            #expect(!preview.purchases.isEmpty)
            #expect(try await SubscriptionStore(connection).all().isEmpty)
        }
    }

    @Test func `StatePreview without an account reads nothing of accounts, and tells the same of the purchases`()
        async throws
    {
        try await LedgerStoreTests.use { connection, configuration async throws in
            let scenario = Scenario(seed: 39_998)
            let app = CoverageStore.App(.production, scenario.app)
            _ = try await LedgerStore(connection).apply(scenario.stored, moving: [], recordedAt: Fixtures.now)
            let entries = scenario.stored + scenario.uploaded
            let ofAccount = try await StatePreviewStore(connection).preview(
                of: entries, in: app, account: UUID(), at: Fixtures.now)
            let holder = TestDatabase.connection(configuration)
            // A preview that reads one of them waits until its lock timeout.
            try await holder.run(
                unsafeScript: """
                    begin;
                    lock table account_claim, chosen_account, sharing_policy, purchase_transfer, account_app, manual_grant
                    """)
            let preview = try await StatePreviewStore(connection).preview(of: entries, in: app, at: Fixtures.now)
            await holder.close()
            #expect(!preview.named.isEmpty && preview.named == ofAccount.named)
            for key in preview.named {
                #expect(preview.purchases[key]?.subscription == ofAccount.purchases[key]?.subscription)
                #expect(preview.purchases[key]?.periods == ofAccount.purchases[key]?.periods)
            }
        }
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
