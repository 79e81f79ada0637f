import Foundation
import Postgres

/// The clock of a test's database, which stands still: `statement_timestamp()` on the connections that it lends.
public struct DatabaseClock: Sendable {
    private let database: PostgresConfiguration
    private let own: PostgresConnection

    /// Stops the clock of a database.
    public init(of database: PostgresConfiguration, at date: Date) async throws {
        self.database = database
        own = TestDatabase.connection(database)
        try await own.run(
            unsafeScript: """
                create table test_clock (moment timestamptz not null);
                insert into test_clock values ('-infinity');
                create function statement_timestamp() returns timestamptz
                language sql stable
                as 'select moment from test_clock'
                """)
        try await advance(to: date)
    }

    /// A connection on which the function of the test comes before that of Postgres.
    public func connection() async throws -> PostgresConnection {
        let connection = TestDatabase.connection(database)
        try await connection.run(unsafeScript: "set search_path = \(database.schema), pg_catalog")
        return connection
    }

    /// Moves it forward; does nothing where another task has moved it further.
    public func advance(to date: Date) async throws { _ = try await own.execute(Self.move, date) }

    private static let move = Statement(
        unsafeSQL: "update test_clock set moment = greatest(moment, $1::timestamptz)")
}
