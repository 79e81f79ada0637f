import Contracts
import Foundation
import Postgres
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// Equal versions of an account mean equal lines: a 304 never hides a change.
@Suite(.serialized) struct EntitlementVersionTests {
    private static let app = CustomerStoreTests.app

    /// Something that may change what accounts may use.
    static func change(
        _ connection: PostgresConnection, _ entries: inout ArraySlice<LedgerEntry>, _ generator: inout SeededGenerator
    ) async throws {
        let token = CustomerStoreTests.tokens.randomElement(using: &generator) ?? ""
        let account = try #require(UUID(uuidString: token))
        let sharing = SharingStore(connection)
        switch Int.random(in: 0..<12, using: &generator) {
        case 0: try await sharing.choose(token, of: app, in: .production, at: Fixtures.now)
        case 1: _ = try await sharing.unchoose(token, of: app, in: .production, at: Fixtures.now)
        case 2:
            let policy = SharingPolicy.allCases.randomElement(using: &generator) ?? .standard
            try await sharing.setPolicy(policy, of: app, in: .production, at: Fixtures.now)
        case 3:
            let grant = CustomerRecords.ManualGrant(
                id: UUID(), environment: .production, bundleId: app, appAccountToken: account, productId: "pro",
                reason: "r", startsAt: Fixtures.now, endsAt: nil, createdAt: Fixtures.now, createdBy: UUID())
            _ = try await connection.pipeline([CustomerRecords.command(adding: grant)])
        case 4:
            for grant in try await CustomerRecords(connection).grants(of: account, of: app, in: .production).prefix(1) {
                _ = try await connection.pipeline([
                    CustomerRecords.command(revoking: grant, at: Fixtures.now.addingTimeInterval(1))
                ])
            }
        case 5:
            try await AccountAppStore(connection).add(
                AccountAppStore.AccountApp(
                    environment: .production, bundleId: app, appAccountToken: account, identity: "70",
                    evidence: .signed, originalApplicationVersion: "1", originalPurchaseDate: nil,
                    recordedAt: Fixtures.now), isRestore: Bool.random(using: &generator))
        case 6:
            try await CustomerStore(connection).add([
                AccountClaim(
                    key: SubscriptionKey(
                        environment: .production,
                        originalTransactionId: entries.first?.originalTransactionId ?? "1"),
                    bundleId: app, appTransactionId: nil, appAccountToken: token, evidence: .operator,
                    since: Fixtures.now)
            ])
        default:
            let batch = entries.prefix(3)
            entries = entries.dropFirst(3)
            _ = try await LedgerStore(connection).apply(Array(batch), moving: [], recordedAt: Fixtures.now)
        }
    }

    @Test(arguments: 1100...1107 as ClosedRange<UInt64>)
    func `The version of an account changes with its lines, whatever changes them`(seed: UInt64) async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var generator = SeededGenerator(state: seed)
            var entries = CustomerStoreTests.entries(seed: seed, mixing: 2).shuffled(using: &generator)[...]
            let accounts = CustomerStoreTests.tokens.compactMap { UUID(uuidString: $0) }
            var seen: [UUID: [EntitlementStore.Version: [EntitlementStore.Line]]] = [:]
            while !entries.isEmpty {
                try await Self.change(connection, &entries, &generator)
                let commands =
                    [EntitlementStore.command(of: accounts, in: .production, bundleIds: [Self.app], from: .distantPast)]
                    + accounts.map {
                        EntitlementStore.command(versionOf: $0, in: .production, bundleIds: [Self.app])
                    }
                let rows = try await connection.pipeline(commands)
                let lines = Dictionary(grouping: try EntitlementStore.lines(rows[0]), by: \.account)
                for (place, account) in accounts.enumerated() {
                    let version = try EntitlementStore.version(rows[place + 1])
                    let found = lines[account] ?? []
                    if !found.isEmpty { #expect(EntitlementStore.Version(found) == version) }
                    let before = seen[account, default: [:]].updateValue(found, forKey: version)
                    if let before { #expect(before == found, "\(version)") }
                }
            }
            #expect(seen.values.contains { $0.count > 5 })
        }
    }
}
