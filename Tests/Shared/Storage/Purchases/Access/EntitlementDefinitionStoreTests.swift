import Contracts
import Foundation
import Postgres
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// What many versions of definitions cost, and what a refused one locks.
struct EntitlementDefinitionStoreTests {
    private static let app = CustomerStoreTests.app

    @Test func `What every instance of the API reads each second leaves out older versions`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            try await connection.run(
                unsafeScript: """
                    insert into entitlement_definition
                        (version, created_at, created_by, environment, bundle_id, name, product_ids)
                    select version, now(), gen_random_uuid(), environment::store_environment, app, name,
                        array['product ' || version]
                    from generate_series(1, 200) as version, unnest(array['Production', 'Sandbox']) as environment,
                        unnest(array['one', 'other']) as app, unnest(array['a', 'b', 'c', 'd', 'e']) as name;
                    analyze entitlement_definition
                    """)
            let held = try await EntitlementDefinitionStore(connection).current()
            for (app, environment) in [("one", StoreEnvironment.production), ("other", .sandbox)] {
                let definitions = held.all(of: app, in: environment)
                #expect(definitions.map(\.name) == ["a", "b", "c", "d", "e"])
                #expect(definitions.allSatisfy { $0.version == 200 && $0.productIds == ["product 200"] })
            }
            // Of 20 definitions, each for its name and for the rest; Postgres rounds the rows of a loop.
            let plan = try await connection.execute(
                unsafeSQL: "explain (analyze, costs off, timing off) \(EntitlementDefinitionStore.current.sql)"
            ).map { row in try row.value(at: 0, as: String.self) }
            let scans = plan.compactMap { line in
                line.firstMatch(of: /on entitlement_definition.* rows=([0-9.]+) loops=([0-9]+)/)
            }
            let read = scans.compactMap { scan in
                Double(scan.1).flatMap { rows in Double(scan.2).map { rows * $0 } }
            }.reduce(0, +)
            #expect((20...60).contains(read), "\(plan.joined(separator: "\n"))")
        }
    }

    @Test func `A definition that is refused waits for no batch and sets no duration`() async throws {
        try await LedgerStoreTests.use { connection, database async throws in
            let batch = TestDatabase.connection(database)
            try await batch.run(unsafeScript: "begin; lock table product in access share mode")
            let definition = EntitlementDefinition(
                environment: .production, bundleId: Self.app, name: "pro",
                productIds: [String(repeating: "a", count: 1_000_001)], originalApplicationVersionBefore: nil,
                createdAt: Fixtures.now, createdBy: UUID())
            // A lock would not be granted within its time.
            await #expect(throws: EntitlementDefinitionStore.Full.self) {
                _ = try await EntitlementDefinitionStore(connection).put(
                    definition, durations: ["pass": ProductDuration("P1M")]
                ) { _, _ in [] }
            }
            try await batch.run(unsafeScript: "rollback")
            #expect(try await ProductStore(connection).durations().isEmpty)
            await batch.close()
        }
    }
}
