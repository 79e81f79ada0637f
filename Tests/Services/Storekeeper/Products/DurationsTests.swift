import Foundation
import Postgres
import Storage
import TestSupport
import Testing

@testable import Storekeeper

struct DurationsTests {
    static func run(_ arguments: [String], environment: [String: String]) async -> CommandOutcome {
        await CommandOutcome.of(
            ["products", "durations", "--app", "com.example.app"] + arguments, environment: environment)
    }

    @Test func `Duration is set, shown, written to the audit log and taken back`() async throws {
        try await TestDatabase.use { database async throws in
            func run(_ arguments: String...) async -> CommandOutcome {
                await Self.run(arguments, environment: database.environment)
            }
            #expect(await run().text.contains("No product of com.example.app has a duration"))
            let set = await run("season.pass=P1M", "day.ticket=PT24H")
            #expect(set.code == 0, "\(set.errorOutput)")
            #expect(set.text.contains("season.pass") && set.text.contains("P1M") && set.text.contains("PT24H"))
            let connection = TestDatabase.connection(database)
            while try await AccessRecalculation(connection).next(at: CommandOutcome.now) != nil {}
            #expect(await run("day.ticket=none").code == 0)
            while try await AccessRecalculation(connection).next(at: CommandOutcome.now) != nil {}
            #expect(await !run().text.contains("day.ticket"))
            let actions = try await OperatorActionStore(connection).newest(10).map(\.operation)
            #expect(
                actions.sorted() == [
                    "products durations P1M", "products durations PT24H", "products durations none",
                ])
        }
    }

    @Test(arguments: [["pass"], ["pass=30"], ["pass=P0D"], ["=P1M"], ["pass=P1M", "pass=P2M"], ["a=b=P1M"]])
    func `products with an invalid duration exits 64`(settings: [String]) async {
        #expect(await Self.run(settings, environment: ["DATABASE_URL": "postgres://nowhere"]).code == 64)
    }
}
