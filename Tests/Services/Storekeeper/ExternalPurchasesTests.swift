import Contracts
import Foundation
import Postgres
import Records
import Storage
import TestSupport
import Testing

@testable import Storekeeper

/// Tokens of purchases outside the App Store.
struct ExternalPurchasesTests {
    private static func tell(
        _ subtype: String, _ token: String, days: Double, unit: String = "", _ connection: PostgresConnection
    ) async throws {
        let signed = CommandOutcome.now.addingTimeInterval(-days * 86_400)
        let created = CommandOutcome.now.addingTimeInterval(-20 * 86_400).milliseconds
        let entry = LedgerEntry(
            notificationUUID: UUID(), notificationType: "EXTERNAL_PURCHASE_TOKEN", subtype: subtype,
            environment: token.hasPrefix("SANDBOX") ? .sandbox : .production, bundleId: "com.example.app",
            appAppleId: 1, originalTransactionId: nil, transactionId: nil, signedDate: signed, receivedAt: signed,
            source: .webhook,
            decodedPayload: """
                {"externalPurchaseToken":{"externalPurchaseId":"\(token)","tokenCreationDate":\(created)\(unit),"tokenType":"SERVICES"}}
                """,
            signedPayload: Array("head.\(UUID()).tail".utf8), event: nil,
            position: LogPosition(topic: Topics.unique.name, partition: 0, offset: 0))
        _ = try await LedgerStore(connection).apply([entry], moving: [], recordedAt: signed)
    }

    @Test func `Token is due once Apple misses a report, until one was sent`() async throws {
        try await TestDatabase.use { database async throws in
            func run(_ arguments: String...) async -> CommandOutcome {
                await database.run(["external-purchases"] + arguments)
            }
            let connection = TestDatabase.connection(database)
            #expect(await run("list").text.contains("No token is known"))
            try await Self.tell("CREATED", "SANDBOX_a", days: 20, connection)
            // Apple's dates occur in microseconds.
            try await Self.tell("CREATED", "b", days: 20, unit: "000", connection)
            #expect(await run("list", "--due").code == 0)
            try await Self.tell("UNREPORTED", "b", days: 10, unit: "000", connection)
            struct Row: Decodable {
                var externalPurchaseId: String
                var environment: String
                var age: String
                var isDue: Bool
            }
            let rows: [Row] = try await run("list", "--json").json()
            #expect(rows.map(\.externalPurchaseId) == ["b", "SANDBOX_a"] && rows.map(\.isDue) == [true, false])
            #expect(
                rows.map(\.age) == ["20 d 0 h", "20 d 0 h"] && rows.map(\.environment) == ["Production", "Sandbox"])
            let due = await run("list", "--due", "--app", "com.example.app")
            #expect(due.code == 1 && due.text.contains("DUE") && !due.text.contains("SANDBOX_a"), "\(due.text)")
            #expect(await run("list", "--app", "com.example.other").text.contains("No token is known"))
            let reported = OperatorAction(
                actedAt: CommandOutcome.now, actor: "alice", operation: ExternalPurchaseTokens.reportOperation,
                subject: "b", reason: nil)
            try await OperatorActionStore(connection).record([reported])
            #expect(await run("list", "--due").text.contains("No token is due"))
        }
    }

    @Test func `Report without line items is printed, and a wrong one is refused before anything is sent`() async {
        func run(_ arguments: String...) async -> CommandOutcome {
            await CommandOutcome.of(["external-purchases", "report"] + arguments, environment: [:])
        }
        let printed = await run("SANDBOX_a", "--status", "NO_LINE_ITEM", "--dry-run")
        #expect(printed.code == 0 && printed.text.contains("SANDBOX_a"), "\(printed.errorOutput)")
        #expect(printed.text.contains("NO_LINE_ITEM") && !printed.text.contains("lineItems"))
        #expect(await run("a", "--dry-run").code == 64)
        #expect(await run("a", "--status", "LINE_ITEM", "--dry-run").code == 64)
        #expect(await run("a", "--status", "NO_LINE_ITEM", "--environment", "Sandbox", "--dry-run").code == 64)
        #expect(await run("a", "--line-items", "/nowhere.json", "--dry-run").code == 1)
    }

    @Test func `Line items of a file that begins with a byte order mark are those without it`() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try directory.write("items.json", "\u{FEFF}[{\"lineItemId\":\"7\"}]")
        let printed = await CommandOutcome.of(
            ["external-purchases", "report", "a", "--line-items", directory.path("items.json"), "--dry-run"])
        #expect(printed.code == 0 && printed.text.contains("lineItemId"), "\(printed)")
    }
}
