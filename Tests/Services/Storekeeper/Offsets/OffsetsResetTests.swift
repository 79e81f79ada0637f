import Contracts
import Development
import Kafka
import Logging
import Pipeline
import Records
import Storage
import TestSupport
import Testing

@testable import Storekeeper

struct OffsetsResetTests {
    @Test func `offsets reset deletes the state-updater's offsets in this cluster alone`() async throws {
        try await PipelineHarness.with(topics: [Topics.unique.route]) { harness async throws in
            let cluster = try await KafkaAdmin(harness.broker.configuration, logger: .silent).clusterId()
            let connection = harness.connection
            let positions = PositionStore(connection)
            let ours = [Int32(0), 1].map { LogPosition(topic: Topics.unique.name, partition: $0, offset: 7) }
            let group = ServiceName.stateUpdater.group
            _ = try await positions.establish(cluster: cluster, group: group, lowWatermarks: ours)
            _ = try await positions.establish(cluster: "another", group: group, lowWatermarks: ours)
            _ = try await positions.establish(cluster: cluster, group: "another", lowWatermarks: ours)

            let environment = harness.environment
            let dry = await CommandOutcome.of(["offsets", "reset", "--dry-run"], environment: environment)
            #expect(dry.text == "notifications.unique: 2 stored offsets would be deleted.")
            struct Page: Decodable, Equatable {
                var cluster: String
                var topic: String
                var storedOffsets: Int
                var isDeleted: Bool
            }
            let json = await CommandOutcome.of(["offsets", "reset", "--dry-run", "--json"], environment: environment)
            let page = Page(cluster: cluster, topic: Topics.unique.name, storedOffsets: 2, isDeleted: false)
            #expect(try json.json() == page)
            #expect(try await positions.all(cluster: cluster, group: group).count == 2)
            #expect(try await OperatorActionStore(connection).newest(10).isEmpty)
            let outcome = await CommandOutcome.of(["offsets", "reset"], environment: environment)
            #expect(outcome.code == 0, "\(outcome.errorOutput)")
            #expect(outcome.text.contains("2 stored offsets deleted"))
            #expect(try await positions.all(cluster: cluster, group: group).isEmpty)
            #expect(try await positions.all(cluster: "another", group: group).count == 2)
            #expect(try await positions.all(cluster: cluster, group: "another").count == 2)
            let auditLog = try await OperatorActionStore(connection).newest(10)
            #expect(auditLog.map(\.operation) == ["offsets reset"] && auditLog.map(\.actor) == ["olga"])
            for arguments in [["offsets", "reset"], ["offsets", "reset", "--dry-run"]] {
                let again = await CommandOutcome.of(arguments, environment: environment)
                #expect(again.code == 1 && again.errorOutput.contains("no stored offset"))
            }
        }
    }
}
