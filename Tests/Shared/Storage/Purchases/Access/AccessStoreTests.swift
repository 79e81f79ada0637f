import Foundation
import Postgres
import Storage
import Subscriptions
import TestSupport
import Testing

@Suite struct AccessStoreTests {
    static let app = CustomerStoreTests.app
    static let token = CustomerStoreTests.tokens[0]

    static func use(_ body: (PostgresConnection) async throws -> Void) async throws {
        var fixtures = Fixtures(seed: 700)
        let bought = CustomerStoreTests.purchase("1", of: token, by: "70", day: 0, &fixtures)
        try await CustomerStoreTests.use([bought], body)
    }

    @Test func `AccessStore answers differently for an account without access and an unknown account`() async throws {
        try await Self.use { connection async throws in
            let store = AccessStore(connection)
            let after = Fixtures.epoch.addingTimeInterval(31 * 86_400)
            let during = Fixtures.epoch.addingTimeInterval(86_400)
            #expect(try await store.access(ofAccount: Self.token, of: Self.app, in: .production, at: after) == [])
            let stranger = UUID().uuidString
            #expect(try await store.access(ofAccount: stranger, of: Self.app, in: .production, at: during) == nil)
            #expect(try await store.access(ofAccount: Self.token, of: Self.app, in: .sandbox, at: during) == nil)
            #expect(
                try await store.access(ofAccount: Self.token, of: "com.example.x", in: .production, at: during) == nil)
        }
    }

    @Test func `AccessStore rejects a text that is no token, and the error shows a valid one`() async throws {
        try await Self.use { connection async throws in
            let error = await #expect(throws: NoAccountToken.self) {
                try await AccessStore(connection).access(
                    ofAccount: "anna", of: Self.app, in: .production, at: Fixtures.epoch)
            }
            #expect("\(try #require(error))".contains("UUIDs"))
        }
    }

    @Test func `Access in the past and the future follows from the facts known now`() async throws {
        try await Self.use { connection async throws in
            for (day, count) in [(-1.0, 0), (0, 1), (29.9, 1), (30, 0)] {
                let moment = Fixtures.epoch.addingTimeInterval(day * 86_400)
                let periods = try await AccessStore(connection).access(
                    ofAccount: Self.token, of: Self.app, in: .production, at: moment)
                #expect(periods?.count == count)
            }
        }
    }

    @Test func `The view finds the token in any spelling`() async throws {
        try await Self.use { connection async throws in
            let statement = Statement(
                unsafeSQL: """
                    select product_id, upper(period) as ends_at from account_access
                    where app_account_token = '\(Self.token.uppercased())' and bundle_id = '\(Self.app)'
                        and environment = 'Production' and $1::timestamptz <@ period
                    """)
            let rows = try await connection.execute(statement, Fixtures.epoch)
            #expect(try rows.map { row in try row.value("product_id", as: String.self) } == ["gold"])
            #expect(try rows[0].value("ends_at") == Fixtures.epoch.addingTimeInterval(30 * 86_400))
        }
    }

    @Test func `Two periods of one purchase cannot overlap`() async throws {
        try await Self.use { connection async throws in
            let error = await #expect(throws: PostgresError.self) {
                try await connection.run(
                    unsafeScript: """
                        insert into access_period (
                            period, notification_uuid, environment, original_transaction_id, bundle_id, product_id, reason)
                        select period, notification_uuid, environment, original_transaction_id, bundle_id, 'other', reason
                        from access_period
                        """)
            }
            #expect(error?.sqlState == "23P01")
        }
    }
}
