import Synchronization

/// Chooses the partition of a record without a key. No I/O.
///
/// A third of them has its leader on one broker of three. Where that is unreachable and stays the leader, because the other brokers
/// do reach it, only partitions of the others confirm anything.
struct PartitionChoice {
    typealias Instant = ContinuousClock.Instant

    /// How long records go to the same partition, so that they make a batch.
    private static let stay = Duration.milliseconds(10)
    /// How long a partition is avoided that confirmed nothing; then one record tries it.
    private static let rest = Duration.seconds(10)
    private static let trial = Duration.seconds(2)

    private var count: Int32 = 0
    /// Until when.
    private var avoided: [Int32: Instant] = [:]
    private var current: (partition: Int32, until: Instant)?

    mutating func next(
        of count: Int32, at now: Instant, using generator: inout some RandomNumberGenerator
    ) -> Int32 {
        self.count = count
        if let current, now < current.until, current.partition < count,
            avoided[current.partition] == nil || !hasOther
        {
            return current.partition
        }
        if let tried = avoided.filter({ $0.key < count && $0.value <= now }).keys.min() {
            avoided[tried] = now + Self.trial
            return tried
        }
        let confirming = (0..<count).filter { avoided[$0] == nil }
        let chosen = (confirming.isEmpty ? Array(0..<count) : confirming).randomElement(using: &generator) ?? 0
        current = (chosen, now + Self.stay)
        return chosen
    }

    /// The partition has confirmed a record.
    mutating func confirms(_ partition: Int32) { avoided[partition] = nil }

    /// The partition has not confirmed a record in time.
    mutating func isLate(_ partition: Int32, at now: Instant) { avoided[partition] = now + Self.rest }

    /// Whether a partition is not avoided.
    var hasOther: Bool { avoided.keys.count { $0 < count } < count }
}

/// The choices of a producer, by topic.
final class PartitionChoices: Sendable {
    private let topics = Mutex<[String: PartitionChoice]>([:])

    func next(of topic: String, count: Int32) -> Int32 {
        var generator = SystemRandomNumberGenerator()
        return topics.withLock {
            $0[topic, default: PartitionChoice()].next(of: count, at: .now, using: &generator)
        }
    }

    func confirms(_ place: TopicPartition) { topics.withLock { $0[place.topic]?.confirms(place.partition) } }

    /// - Returns: whether another partition may confirm the record.
    func isLate(_ place: TopicPartition) -> Bool {
        topics.withLock { topics in
            topics[place.topic]?.isLate(place.partition, at: .now)
            return topics[place.topic]?.hasOther ?? false
        }
    }
}
