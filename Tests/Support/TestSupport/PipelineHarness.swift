import Contracts
import Development
import Foundation
import Kafka
import Logging
import Postgres
import Records

/// A broker with a producer and a database with a connection, for tests of what works with both.
///
/// With Apple's side it is completed by `RunningAppStore`.
package struct PipelineHarness: Sendable {
    /// Has the topics that the test named.
    package let broker: DevelopmentBroker
    /// Writes to the broker.
    package let producer: Producer
    /// Empty but for the schema.
    package let database: PostgresConfiguration
    /// A session of the database.
    package let connection: PostgresConnection

    /// Lends a fresh one.
    /// - Parameters:
    ///   - topics: what the broker has; with as many partitions as `setup` creates.
    ///   - isMigrated: whether the database holds our schema.
    package static func with<Value>(
        topics: [Route] = Topics.all, isMigrated: Bool = true, isolation: isolated (any Actor)? = #isolation,
        _ body: (PipelineHarness) async throws -> Value
    ) async throws -> Value {
        try await TestDatabase.use(isMigrated: isMigrated) { database in
            let broker = try DevelopmentBroker(routes: topics)
            defer { withExtendedLifetime(broker) {} }
            let harness = PipelineHarness(
                broker: broker, producer: try Producer(broker.configuration, logger: .quiet), database: database,
                connection: TestDatabase.connection(database))
            let result: Result<Value, any Error>
            do { result = .success(try await body(harness)) } catch { result = .failure(error) }
            await harness.connection.close()
            await harness.producer.close(deadline: .seconds(5))
            return try result.get()
        }
    }

    /// How other processes reach broker and database: as variables.
    package var environment: [String: String] {
        broker.environment.merging(["DATABASE_URL": database.url]) { $1 }
    }
}
