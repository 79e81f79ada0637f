import Contracts
import Development
import Foundation
import Operations
import Postgres
import Storage
import TestSupport
import Testing

@testable import Storekeeper

/// Erased customers, whom the other system still has.
@Suite(.serialized) struct CompareErasureTests {
    @Test func `A customer who is erased while a comparison runs is not in it`() async throws {
        let ledger = ComparedLedger.withAllCauses()
        try await CompareTests.use(ledger) { _, connection, _ in
            let store = ComparisonStore(connection)
            let comparison = Comparison(
                id: UUID(), environment: .production, bundleId: CompareTests.app.bundleId, source: "revenueCat",
                takenAt: ComparedLedger.moment, startedAt: ComparedLedger.now)
            try await store.begin(
                comparison,
                audit: OperatorAction(
                    actedAt: ComparedLedger.now, actor: "ann", operation: "compare", subject: "a file", reason: nil))
            let read = ["full", "prorated"].map { customer in
                ComparisonDifference(
                    customerId: customer, account: ledger.accounts[customer], entitlement: "pro",
                    ours: .init(hasAccess: true, until: nil), others: .init(hasAccess: false, until: nil),
                    cause: .unexplained)
            }
            _ = try await ErasureStore(connection).forget(
                try #require(read[0].account), of: CompareTests.app.bundleId, in: .production, extent: .detach,
                id: UUID(),
                at: ComparedLedger.now)
            try await store.add(read, to: comparison.id)
            try await store.add([read[0]], to: comparison.id)
            try await store.finish(comparison, at: ComparedLedger.now)
            let stored = try await store.differences(of: comparison.id, cause: nil, limit: 10)
            #expect(stored.map(\.customerId) == ["prorated"])
        }
    }

    @Test func `A customer who was erased is not compared, although the other system still has the customer`()
        async throws
    {
        var ledger = ComparedLedger()
        let account = ledger.customer("user-1")
        let purchase = ledger.buy(account)
        // The app's ids are its tokens.
        ledger.record(account.uuidString.lowercased(), purchase.id, to: 20)
        try await CompareTests.use(ledger) { database, connection, directory in
            let file = directory.path("export.csv")
            let before = try CompareTests.numbers(await CompareTests.run(database, file, "--ask", "0", "--json"))
            #expect(before["equal"] == 1 && before["customers"] == 1)
            _ = try await ErasureStore(connection).forget(
                account, of: CompareTests.app.bundleId, in: .production, extent: .detach, id: UUID(),
                at: ComparedLedger.now)
            let after = await CompareTests.run(database, file, "--ask", "0")
            #expect(after.code == 0 && after.text.contains("Records left out: 1 erased"), "\(after.text)")
            let stored = try await CompareTests.everything(connection)
            #expect(!stored.contains { $0.contains(account.uuidString.lowercased()) }, "\(stored)")
        }
    }

    @Test func `An erasure takes out a customer whom the file names by another id, and who had no access here`()
        async throws
    {
        var ledger = ComparedLedger()
        let account = ledger.customer("user-1")
        var refund = ledger.buy(account)
        refund.facts.revocationDate = ComparedLedger.at(-2)
        ledger.tell("REFUND", nil, refund, status: 5, at: -2)
        ledger.record("user-1", refund.id, to: 20)
        try await CompareTests.use(ledger) { database, connection, directory in
            try CompareTests.write(
                ledger.records.map { $0.replacing("user-1,user-1,", with: "user-1,user-one,") },
                to: directory.url("export.csv"))
            let found = await CompareTests.run(database, directory.path("export.csv"), "--ask", "0")
            #expect(found.text.contains("1 refundInFull"), "\(found)")
            #expect(try await CompareTests.everything(connection).contains { $0.contains("user-one") })
            _ = try await ErasureStore(connection).forget(
                account, of: CompareTests.app.bundleId, in: .production, extent: .detach, id: UUID(),
                at: ComparedLedger.now)
            #expect(try await !CompareTests.everything(connection).contains { $0.contains("user-one") })
        }
    }

    @Test func `An erased customer is in no comparison, and comparisons are kept for 90 days`() async throws {
        let ledger = ComparedLedger.withAllCauses()
        try await CompareTests.use(ledger) { database, connection, directory in
            _ = await CompareTests.run(database, directory.path("export.csv"), "--ask", "0")
            let account = try #require(ledger.accounts["full"])
            func names() async throws -> Bool {
                try await CompareTests.everything(connection).contains {
                    $0.contains("full,") || $0.contains("\(account)".lowercased())
                }
            }
            #expect(try await names())
            _ = try await ErasureStore(connection).forget(
                account, of: CompareTests.app.bundleId, in: .production, extent: .detach, id: UUID(),
                at: ComparedLedger.now)
            #expect(try await !names())
            let store = ComparisonStore(connection)
            #expect(try await store.delete(startedBefore: ComparedLedger.now, portion: 3) == 0)
            #expect(try await store.delete(startedBefore: ComparedLedger.now.addingTimeInterval(1), portion: 3) == 1)
            #expect(try await CompareTests.everything(connection).isEmpty)
        }
    }
}
