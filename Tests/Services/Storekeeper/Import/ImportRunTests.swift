import Commands
import Contracts
import Foundation
import Postgres
import Storage
import TestSupport
import Testing

@testable import Storekeeper

/// Customers of a file beside what is known of them.
@Suite(.serialized) struct ImportRunTests {
    private static let app = "com.example.app"

    private static func run(_ connection: PostgresConnection) -> ImportRun {
        ImportRun(
            connection: connection, bundleId: app, environment: .production,
            context: CommandContext(
                now: { CommandOutcome.now }, seed: { 1 }, id: { UUID() }, executable: nil, environment: [:],
                user: "olga",
                print: { _ in }, warn: { _ in }, confirm: nil))
    }

    @Test func `An erased account is the outcome of its row, and holds up no other`() async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            let run = Self.run(connection)
            let account = UUID()
            let byId = ImportList.Row(
                line: 1, customerId: account.uuidString, originalTransactionIds: ["2000000000000001"])
            let byToken = ImportList.Row(line: 2, customerId: "user-1", appAccountToken: account)
            #expect(try await run.outcome(of: byId, isDryRun: false).outcome == .created)
            let certificate = try await ErasureStore(connection).forget(
                account, of: Self.app, in: .production, extent: .detach, id: UUID(), at: CommandOutcome.now)
            #expect(certificate != nil)
            for isDryRun in [true, false] {
                for row in [byId, byToken] {
                    let mapped = try await run.outcome(of: row, isDryRun: isDryRun)
                    #expect(mapped.outcome == .erased && mapped.appAccountToken == nil, "dry run: \(isDryRun)")
                    #expect(ImportResult(row, mapped).reason?.contains("take the row out") == true)
                }
            }
            let other = ImportList.Row(line: 3, customerId: "user-2", originalTransactionIds: ["2000000000000002"])
            #expect(try await run.outcome(of: other, isDryRun: false).outcome == .created)
        }
    }
}
