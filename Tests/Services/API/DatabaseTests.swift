import Foundation
import Postgres
import TestSupport
import Testing

@testable import API

/// The connections that all requests share.
@Suite(.hangLimit) struct DatabaseTests {
    private static let quotient = Statement("test-quotient", "select 1000 / $1::integer as quotient")

    /// Zero fails, and takes no other look-up of its round trip with it.
    @Test(arguments: [1, 3])
    func `Each look-up gets its own answer, alone, among others and beside loans`(connections count: Int) async throws {
        try await TestDatabase.use(isMigrated: false) { configuration in
            let database = Database((0..<count).map { _ in TestDatabase.connection(configuration) })
            func quotient(_ divisor: Int32) async throws -> Int32 {
                try await database.rows(Command(Self.quotient, divisor))[0].value("quotient")
            }
            #expect(try await quotient(8) == 125)
            await #expect(throws: PostgresError.self) { _ = try await quotient(0) }
            // The connection is there again after a failure.
            #expect(try await quotient(10) == 100)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number: Int32 in 0..<300 {
                    group.addTask {
                        try await ServedKey.$id.withValue(number % 2 == 0 ? nil : UUID()) {
                            let divisor = number % 10
                            switch number % 3 {
                            case 0:
                                let lent = try await database.withConnection { connection in
                                    try await connection.pipeline([Command(Self.quotient, number + 1)])[0]
                                }
                                #expect(try lent[0].value("quotient", as: Int32.self) == 1000 / (number + 1))
                            case _ where divisor == 0:
                                await #expect(throws: PostgresError.self) { _ = try await quotient(divisor) }
                            default: #expect(try await quotient(divisor) == 1000 / divisor)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await quotient(4) == 250)
            await database.close()
        }
    }
}
