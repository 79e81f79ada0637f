import Commands
import Contracts
import Foundation
import Operations
import Postgres
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Storekeeper

/// Customers of a file beside what is known of them.
@Suite(.serialized) struct ImportRunTests {
    private static let app = "com.example.app"

    /// Each reading of the clock is later than the one before: of two claims the earlier one counts.
    static func run(_ connection: PostgresConnection) -> ImportRun {
        let readings = Mutex(0.0)
        return ImportRun(
            connection: connection, bundleId: app, environment: .production,
            context: CommandContext(
                now: {
                    readings.withLock { readings in
                        readings += 1
                        return CommandOutcome.now.addingTimeInterval(readings)
                    }
                }, seed: { 1 }, id: { UUID() }, executable: nil, environment: [:], user: "olga", print: { _ in },
                warn: { _ in }, confirm: nil))
    }

    @Test func `An erased account is the outcome of its row, and holds up no other`() async throws {
        try await TestDatabase.connected { connection async throws in
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

    @Test func `Apple can be asked about a purchase when each row that names it is stored`() async throws {
        try await TestDatabase.connected { connection async throws in
            let rows = [
                ImportList.Row(line: 1, customerId: "user-1", originalTransactionIds: ["1001"]),
                ImportList.Row(line: 2, customerId: "user-2", originalTransactionIds: ["1001", "1002"]),
                // The customer has another token.
                ImportList.Row(
                    line: 3, customerId: "user-1", appAccountToken: UUID(), originalTransactionIds: ["1003"]),
            ]
            let customers = ImportCustomers(
                run: Self.run(connection), rows: rows,
                performer: try Performer("olga", reason: nil, at: CommandOutcome.now), isDryRun: false)
            var settled: [String: [UUID]] = [:]
            let stored = try await customers.store { id, accounts in
                #expect(settled[id] == nil)
                settled[id] = accounts
            }
            let (first, second) = (try #require(stored.tokens[1]), try #require(stored.tokens[2]))
            #expect(settled == ["1001": [first, second], "1002": [second]])
            #expect(stored.results.map(\.outcome) == ["created", "otherAccount", "conflict"], "\(stored.results)")
        }
    }

    @Test func `Access by hand is given once, and not again after it was revoked`() async throws {
        try await TestDatabase.connected { connection async throws in
            let now = CommandOutcome.now
            _ = try await EntitlementDefinitionStore(connection).put(
                EntitlementDefinition(
                    environment: .production, bundleId: Self.app, name: "pro", productIds: ["monthly"],
                    originalApplicationVersionBefore: nil, createdAt: now, createdBy: UUID()), durations: [:]
            ) { _, _ in [] }
            let account = UUID()
            let grants = [
                ImportList.Grant(entitlement: "pro", endsAt: now.addingTimeInterval(86_400.25)),
                ImportList.Grant(entitlement: "pro", endsAt: nil),
            ]
            let run = Self.run(connection)
            let performer = try Performer("olga", reason: nil, at: now)
            #expect(try await run.give(grants, to: account, by: performer) == 2)
            let later = try Performer("olga", reason: nil, at: now.addingTimeInterval(3600))
            #expect(try await run.give(grants, to: account, by: later) == 0)
            let records = CustomerRecords(connection)
            let given = try await records.grants(of: account, of: Self.app, in: .production)
            #expect(given.map(\.productId) == ["pro", "pro"])
            _ = try await connection.pipeline(given.map { CustomerRecords.command(revoking: $0, at: later.now) })
            #expect(try await run.give(grants, to: account, by: later) == 0)
            await #expect(throws: OperationError.self) {
                try await run.give([ImportList.Grant(entitlement: "gold", endsAt: nil)], to: account, by: later)
            }
        }
    }

    @Test func `A purchase that another customer has stays that one's, and the row says so (F22)`() async throws {
        try await TestDatabase.connected { connection async throws in
            let run = Self.run(connection)
            let purchase = "2000000000000001"
            let rows = (1...2).map { number in
                ImportList.Row(
                    line: number, customerId: "user-\(number)",
                    appAccountToken: UUID(uuidString: "7e3fb204-2017-4a4e-8f3b-00000000000\(number)"),
                    originalTransactionIds: [purchase])
            }
            #expect(try await run.outcome(of: rows[0], isDryRun: false).outcome == .created)
            let second = try await run.outcome(of: rows[1], isDryRun: false)
            #expect(second.outcome == .otherAccount && second.withheld == [purchase])
            #expect(second.appAccountToken == rows[1].appAccountToken)
            #expect(ImportResult(rows[1], second).reason?.contains(purchase) == true)
            #expect(try await run.outcome(of: rows[0], isDryRun: false).outcome == .known)
        }
    }

    @Test func `A purchase that a row names by its renewal is another account's also where nothing is fetched`()
        async throws
    {
        try await TestDatabase.connected { connection async throws in
            var ledger = ComparedLedger()
            let bought = [ledger.customer("owner"), nil].map { account in
                ledger.buy(account ?? UUID(), from: -40, to: -10) {
                    $0.facts.appAccountToken = account?.uuidString.lowercased()
                }
            }
            let renewals = bought.map { ledger.renew($0, from: -10, to: 20) }
            let (owned, free) = (renewals[0], renewals[1])
            try await ledger.apply(to: connection, seed: 1)
            let run = Self.run(connection)
            func outcome(
                _ customer: String, _ purchase: ComparedLedger.Purchase, token: UUID? = nil, isDryRun: Bool = false
            ) async throws -> ImportRun.Mapped {
                let row = ImportList.Row(
                    line: 1, customerId: customer, appAccountToken: token,
                    originalTransactionIds: [purchase.facts.transactionId])
                return try await run.outcome(of: row, isDryRun: isDryRun)
            }
            for isDryRun in [true, false] {
                let other = try await outcome("other", owned, isDryRun: isDryRun)
                #expect(other.outcome == .otherAccount && other.withheld == [owned.id], "dry run: \(isDryRun)")
            }
            #expect(try await outcome("owner", owned).outcome == .known)
            // Nothing says whose this one is: the first row claims it.
            let tokens = (1...2).map { UUID(uuidString: "7e3fb204-2017-4a4e-8f3b-00000000000\($0)") }
            #expect(try await outcome("first", free, token: tokens[0]).outcome == .created)
            let second = try await outcome("second", free, token: tokens[1])
            #expect(second.outcome == .otherAccount && second.withheld == [free.id])
            #expect(try await outcome("first", free, token: tokens[0]).outcome == .known)
        }
    }

    @Test func `A dry run says of a token that another customer has what the import says`() async throws {
        try await TestDatabase.use { database async throws in
            let run = Self.run(TestDatabase.connection(database))
            let token = UUID()
            let first = ImportList.Row(line: 1, customerId: "user-1", appAccountToken: token)
            #expect(try await run.outcome(of: first, isDryRun: false).outcome == .created)
            // An id that is a UUID is the customer's token, too.
            let others = [
                ImportList.Row(line: 2, customerId: "user-2", appAccountToken: token),
                ImportList.Row(line: 3, customerId: token.uuidString),
            ]
            for row in others {
                for isDryRun in [true, false] {
                    let mapped = try await run.outcome(of: row, isDryRun: isDryRun)
                    #expect(mapped.outcome == .conflict && mapped.appAccountToken == nil, "dry run: \(isDryRun)")
                }
            }
        }
    }

    @Test func `A dry run says of rows of one file that name one token or one purchase what the import says`()
        async throws
    {
        try await TestDatabase.connected { connection async throws in
            var ledger = ComparedLedger()
            let owned = ledger.buy(ledger.customer("owner"), from: -10, to: 20)
            try await ledger.apply(to: connection, seed: 1)
            let (token, other) = (UUID(), UUID())
            let cases: [(customer: String, token: UUID?, purchases: [String], outcome: String)] = [
                ("user-1", token, [], "created"), ("user-2", token, ["1001"], "conflict"),
                // An id that is a UUID is the customer's token, too.
                (token.uuidString, nil, ["1001"], "conflict"), (other.uuidString, nil, [], "created"),
                ("user-3", other, [], "conflict"), ("user-4", nil, ["1001"], "created"),
                ("user-5", nil, ["1001", "1002"], "otherAccount"), ("user-6", nil, ["1002"], "otherAccount"),
                // JSON lines may have several of a customer.
                ("user-4", nil, ["1001", "1003"], "known"), ("user-4", UUID(), ["1004"], "conflict"),
                ("user-1", token, ["1004"], "known"), ("user-6", nil, ["1004"], "otherAccount"),
                // Apple names the account.
                ("user-7", nil, [owned.id], "otherAccount"), ("owner", nil, [owned.id], "known"),
            ]
            let rows = cases.enumerated().map { place, row in
                ImportList.Row(
                    line: place + 1, customerId: row.customer, appAccountToken: row.token,
                    originalTransactionIds: row.purchases)
            }
            func results(isDryRun: Bool) async throws -> [ImportResult] {
                let customers = ImportCustomers(
                    run: Self.run(connection), rows: rows,
                    performer: try Performer("olga", reason: nil, at: CommandOutcome.now), isDryRun: isDryRun)
                return try await customers.store(isShown: false).results
            }
            for isDryRun in [true, false] {
                let results = try await results(isDryRun: isDryRun)
                #expect(results.map(\.outcome) == cases.map(\.outcome), "dry run: \(isDryRun)")
                #expect(results[6].reason?.contains("1001:") == true, "dry run: \(isDryRun)")
            }
            // The file is imported every night.
            let tried = try await results(isDryRun: true).map(\.outcome)
            #expect(try await results(isDryRun: false).map(\.outcome) == tried)
        }
    }

    @Test func `A row of which a grant failed stays failed where another account has its purchase`() {
        let row = ImportList.Row(line: 1, customerId: "user-1", originalTransactionIds: ["100"])
        let fetched = ImportFetched(withheld: [1: ["100"]])
        var result = ImportResult(row, ImportRun.Mapped(outcome: .created, appAccountToken: UUID()))
        #expect(result.joined(fetched).outcome == "otherAccount")
        result.fail("no entitlement gold")
        #expect(result.joined(fetched).outcome == "failed" && result.joined(fetched).reason == "no entitlement gold")
    }
}
