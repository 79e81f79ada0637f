import Foundation
import Storage
import Subscriptions
import TestSupport
import Testing

@testable import Storekeeper

/// What an account may use, on the command line.
@Suite(.serialized) struct EntitlementsTests {
    static let account = "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b"

    struct Row: Decodable, Equatable {
        var givesAccess: Bool
        var productId: String?
        var reason: String
        var id: String
    }

    @Test func `entitlements shows grants while they last, and exits 1 where there is nothing`() async throws {
        try await TestDatabase.use { database in
            let connection = TestDatabase.connection(database)
            let now = CommandOutcome.now
            let grant = CustomerRecords.ManualGrant(
                id: UUID(), environment: .sandbox, bundleId: "com.example.app",
                appAccountToken: try #require(UUID(uuidString: Self.account)), productId: "pro", reason: "apology",
                startsAt: now.addingTimeInterval(-10), endsAt: now.addingTimeInterval(10), createdAt: now,
                createdBy: UUID())
            _ = try await connection.pipeline([CustomerRecords.command(adding: grant)])
            let arguments = ["entitlements", "--environment", "Sandbox", Self.account.uppercased()]
            let shown = await database.run(arguments + ["--json"])
            #expect(shown.code == 0, "\(shown.errorOutput)")
            let rows: [Row] = try shown.json()
            #expect(
                rows == [
                    Row(
                        givesAccess: true, productId: "pro", reason: "manualGrant",
                        id: grant.id.uuidString.lowercased())
                ])
            let later = await CommandOutcome.of(
                arguments, environment: database.environment, now: now.addingTimeInterval(10))
            #expect(later.code == 1, "\(later.text)")
            let other = await database.run(["entitlements", "--environment", "Production", Self.account])
            #expect(other.code == 1 && other.text.contains("No purchase and no grant names \(Self.account)"))
            let wrong = await CommandOutcome.of(["entitlements", "--environment", "Sandbox", "user-1"])
            #expect(wrong.code == 64)
            await connection.close()
        }
    }
}
