import Contracts
import Kafka

/// A dead letter and where it stands.
struct LoggedLetter: Sendable {
    var id: LetterID
    var letter: DeadLetter
    var contents: LetterContents

    init(_ id: LetterID, _ letter: DeadLetter) {
        self.id = id
        self.letter = letter
        contents = LetterContents(letter)
    }
}

/// Reads the topic of dead letters without being a member of a group, and without moving anybody's position.
struct DeadLetterLog: Sendable {
    /// The cluster that the positions belong to.
    let cluster: String
    private let consumer: Consumer

    private static let topic = Topics.rejected
    /// How long the broker may say nothing while there is something to be read.
    private static let patience: Duration = .seconds(20)

    init(_ configuration: KafkaConfiguration) async throws {
        consumer = try Consumer(configuration, group: "\(Service.storekeeper.group).rejected", logger: .silent)
        cluster = try await consumer.clusterId()
    }

    func close() async { await consumer.close(deadline: .seconds(1)) }

    /// The letters that are there, partition by partition; what cannot be read as one is left out.
    /// - Parameter newest: at most so many of each partition; nil is all of them.
    func letters(newest: Int64? = nil) async throws -> [LoggedLetter] {
        var bounds: [TopicPartition: Range<Int64>] = [:]
        for partition in 0..<Int32(Self.topic.route.partitions) {
            let partition = TopicPartition(topic: Self.topic.name, partition: partition)
            let (low, high) = try await consumer.watermarks(partition)
            let first = newest.map { max(low, high - $0) } ?? low
            if first < high { bounds[partition] = first..<high }
        }
        return try await read(bounds)
    }

    /// Some letters by name, in the order of their names.
    /// - Throws: `Failure` naming the first that is not there (any more).
    func letters(_ ids: Set<LetterID>) async throws -> [LoggedLetter] {
        var bounds: [TopicPartition: Range<Int64>] = [:]
        for (number, ids) in Dictionary(grouping: ids, by: \.partition) {
            let partition = TopicPartition(topic: Self.topic.name, partition: number)
            let (low, high) = try await consumer.watermarks(partition)
            let offsets = ids.map(\.offset)
            if let outside = offsets.first(where: { !(low..<high).contains($0) }) {
                throw Failure(
                    """
                    there is no dead letter \(number)/\(outside): partition \(number) of \(Self.topic.name) holds \
                    \(low == high ? "nothing" : "offsets \(low) to \(high - 1)"); the log forgets after 30 days
                    """)
            }
            if let first = offsets.min(), let last = offsets.max() { bounds[partition] = first..<(last + 1) }
        }
        let letters = try await read(bounds).filter { ids.contains($0.id) }.sorted { $0.id < $1.id }
        guard letters.count == ids.count else {
            throw Failure("not everything that stands there in \(Self.topic.name) is a dead letter of ours")
        }
        return letters
    }

    /// To be called once: what is assigned stays so until the end.
    private func read(_ bounds: [TopicPartition: Range<Int64>]) async throws -> [LoggedLetter] {
        guard !bounds.isEmpty else { return [] }
        try await consumer.assign(bounds.map { TopicPartitionOffset($0.key, offset: $0.value.lowerBound) })
        var open = bounds
        var letters: [LoggedLetter] = []
        var lastWord = ContinuousClock.now
        while !open.isEmpty {
            guard case .records(let records) = try await consumer.turn(limit: 500, wait: .seconds(1)) else {
                guard ContinuousClock.now - lastWord < Self.patience else {
                    throw Failure("Kafka did not hand out the dead letters within 20 s; is the broker healthy?")
                }
                continue
            }
            lastWord = .now
            for record in records {
                guard let range = open[record.topicPartition] else { continue }
                if record.offset >= range.upperBound - 1 { open[record.topicPartition] = nil }
                guard range.contains(record.offset), let letter = try? DeadLetter(WireRecord(record)) else { continue }
                letters.append(LoggedLetter(LetterID(partition: record.partition, offset: record.offset), letter))
            }
        }
        return letters
    }
}

extension WireRecord {
    init(_ record: ConsumerRecord) {
        self.init(
            key: record.key, value: record.value, headers: record.headers.map { WireHeader($0.name, $0.value) })
    }
}
