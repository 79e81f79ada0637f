import AsyncHTTPClient
import Commands
import Contracts
import Foundation
import Kafka
import Records
import Storage
import Testing

@testable import Devkit

extension EndToEnd {
    struct TraceTests {
        @Test func `Ingest begins the trace of a notification, whatever a caller sends, and every stage continues it`()
            async throws
        {
            try await EndToEnd.withPipeline { services in
                let target = try #require(await services.processes.target)
                let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
                let body = try await EndToEnd.make("subscribed", seed: 77, services)
                var request = HTTPClientRequest(url: target)
                request.method = .POST
                request.headers.add(name: "content-type", value: "application/json")
                request.headers.add(name: "traceparent", value: "00-\(trace)-00f067aa0ba902b7-01")
                request.body = .bytes(Array(body.utf8))
                let answer = try await HTTPClient.shared.execute(request, timeout: .minutes(10))
                #expect(answer.status == .ok)
                let ledger = EndToEnd.ledger(of: services)
                try await EndToEnd.eventually("what it changed is stored") { try await ledger.count() == 1 }
                let expected = try await TimelineStore(ledger.connection).newest(1000).count
                #expect(expected == 1)
                let changes = try await Self.changes(expected, at: services.kafka)
                #expect(changes.count == expected)
                let traces = Set(changes.compactMap { $0.traceparent?.split(separator: "-").dropFirst().first })
                #expect(traces.count == 1)
                #expect(!traces.contains { $0 == trace })
            }
        }

        private static func changes(
            _ count: Int, at configuration: KafkaConfiguration
        ) async throws -> [SubscriptionChanged] {
            let consumer = try Consumer(configuration, group: "reader", offsetReset: .earliest, logger: .silent)
            try await consumer.assign(
                TopicPartition.all(of: Topics.changed.name, count: Topics.changed.route.partitions).map {
                    TopicPartitionOffset($0, offset: 0)
                })
            var changes: [SubscriptionChanged] = []
            let deadline = ContinuousClock.now + .hangLimit
            while changes.count < count, ContinuousClock.now < deadline {
                guard case .records(let records) = try await consumer.turn(limit: 100, wait: .seconds(1)) else {
                    continue
                }
                changes += try records.map { try SubscriptionChanged(WireRecord($0)) }
            }
            await consumer.close(deadline: .seconds(1))
            return changes
        }
    }
}
