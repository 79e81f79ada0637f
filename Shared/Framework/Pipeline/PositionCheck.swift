import Kafka

/// Compares what is known about positions with what the topic has.
struct PositionCheck: Sendable {
    /// What the comparison found about one partition.
    enum Finding: Sendable, Equatable {
        /// The topic has the records of the evidence, as far as retention has kept them.
        case same(low: Int64)
        /// It has others at their offsets, or ends before.
        case different(low: Int64)
        /// Its broker did not answer in time.
        case unknown

        var isSame: Bool { if case .same = self { true } else { false } }
        var isDifferent: Bool { if case .different = self { true } else { false } }
    }

    /// Has not subscribed.
    let reader: Consumer
    /// For each request.
    private static let patience = Duration.seconds(5)

    /// One finding for each position.
    ///
    /// A record that retention has deleted is no evidence against a topic: where the position itself is before the first
    /// record, reading begins there anyhow, and nothing is skipped.
    /// - Throws: `KafkaError` where the topic or a partition does not exist.
    func findings(of positions: [TopicPartitionOffset]) async throws -> [TopicPartition: Finding] {
        var findings = try await compare(positions)
        // Retention may have deleted a record between the two questions.
        let doubtful = positions.filter { findings[$0.topicPartition]?.isDifferent == true }
        if !doubtful.isEmpty { findings.merge(try await compare(doubtful)) { $1 } }
        return findings
    }

    private func compare(_ positions: [TopicPartitionOffset]) async throws -> [TopicPartition: Finding] {
        var findings: [TopicPartition: Finding] = [:]
        for position in positions { findings[position.topicPartition] = .unknown }
        do {
            let ends = try await reader.watermarks(positions.map(\.topicPartition), within: Self.patience)
            // Of each partition the first record of its evidence, then the second.
            var rounds: [[TopicPartition: PositionEvidence.Record]] = [[:], [:]]
            for (position, (low, high)) in zip(positions, ends) {
                let evidence = PositionEvidence(text: position.metadata).records
                let end = max(position.offset, evidence.map { $0.offset + 1 }.max() ?? 0)
                findings[position.topicPartition] = end > high ? .different(low: low) : .same(low: low)
                guard end <= high else { continue }
                for (round, record) in evidence.filter({ $0.offset >= low }).prefix(rounds.count).enumerated() {
                    rounds[round][position.topicPartition] = record
                }
            }
            for round in rounds { try await compare(round, &findings) }
        } catch let error as KafkaError where error.meaning == .retry {
            // What could not be compared cannot be read at the moment either.
            for case (let partition, .same) in findings { findings[partition] = .unknown }
        }
        return findings
    }

    private func compare(
        _ records: [TopicPartition: PositionEvidence.Record], _ findings: inout [TopicPartition: Finding]
    ) async throws {
        let found = try await reader.firstRecords(
            at: records.map { TopicPartitionOffset($0.key, offset: $0.value.offset) }.sorted {
                $0.topicPartition < $1.topicPartition
            }, within: Self.patience)
        for (partition, expected) in records {
            guard case .same(let low) = findings[partition] else { continue }
            guard let record = found[partition] else {
                findings[partition] = .unknown
                continue
            }
            if PositionEvidence.Record(record) != expected { findings[partition] = .different(low: low) }
        }
    }
}
