import Kafka

import struct Foundation.Date

extension KafkaSource {
    /// The lag of a partition.
    struct Lag: Sendable, Equatable {
        var partition: TopicPartition
        var records: Int64
        /// Age of the record that is processed; zero at the end of the partition.
        var seconds: Double
    }

    /// The lag of every assigned partition; the current batch counts as not settled.
    /// - Parameter askingBroker: asks for the end of every partition. Otherwise the last fetch is used, except where
    ///   there was none yet.
    func lag(now: Date, askingBroker: Bool = false) async throws -> [Lag] {
        let partitions = assigned
        var watermarks: [TopicPartition: Consumer.Watermarks] = [:]
        if !askingBroker {
            for partition in partitions { watermarks[partition] = try await consumer.knownWatermarks(partition) }
        }
        let unknown = partitions.filter { watermarks[$0] == nil }
        for (partition, asked) in zip(unknown, try await consumer.watermarks(unknown)) { watermarks[partition] = asked }
        let ends = await consumer.emptyEnds
        return partitions.compactMap { partition in
            // Revoked meanwhile.
            guard assigned.contains(partition), let (low, high) = watermarks[partition] else { return nil }
            // Read from the beginning where no position is known.
            let place = unsettled[partition]
            let records = max(0, high - Self.next(max(place?.offset ?? low, low), ends[partition]))
            let age = place?.timestamp.map { max(0, now.timeIntervalSince($0)) } ?? 0
            return Lag(partition: partition, records: records, seconds: records > 0 ? age : 0)
        }
    }

    /// Behind what holds no record: the markers of transactions would count as waiting for ever.
    private static func next(_ settled: Int64, _ emptyEnd: Range<Int64>?) -> Int64 {
        guard let emptyEnd, emptyEnd.contains(settled) else { return settled }
        return emptyEnd.upperBound
    }

    /// Whether the group has given it partitions.
    var hasPartitions: Bool { !assigned.isEmpty }

    /// What waits for the whole group, asked of the brokers; nil where nothing does.
    func groupBacklog() async throws -> StallDetector.Backlog? {
        let partitions = try await consumer.partitions(of: topic)
        let committed = try await consumer.committed(partitions)
        var backlog = StallDetector.Backlog(topic: topic, partitions: 0, records: 0, settledByGroup: 0)
        var waiting: [(settled: TopicPartitionOffset, high: Int64)] = []
        for (index, (low, high)) in try await consumer.watermarks(partitions).enumerated() {
            // Any client may have committed any offset, and sums of them overflow.
            let settled = min(max(committed[index]?.offset ?? low, low), high)
            backlog.settledByGroup = (backlog.settledByGroup ?? 0) + settled
            if high > settled { waiting.append((TopicPartitionOffset(partitions[index], offset: settled), high)) }
        }
        let ends = try await reader.emptyEnds(behind: waiting.map(\.settled), within: Self.patience)
        for (settled, high) in waiting {
            let records = high - Self.next(settled.offset, ends[settled.topicPartition])
            guard records > 0 else { continue }
            backlog.partitions += 1
            backlog.records += records
        }
        return backlog.records > 0 ? backlog : nil
    }

    /// Of the question whether what waits for the group is a record.
    private static let patience = Duration.seconds(5)

    /// The error that the client reported since it last delivered a record, and retries by itself.
    var clientError: String? {
        get async { await consumer.lastError.map { "\($0)" } }
    }
}
