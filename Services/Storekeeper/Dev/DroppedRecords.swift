import Kafka

/// Counts what a broker dropped before a group had read it.
///
/// The development broker keeps 5 MiB per partition and forgets the oldest silently. What it forgot is its loss, not the
/// line's, and a verdict must be able to tell.
struct DroppedRecords: Sendable {
    /// Per partition, the first offset that is accounted for neither as read nor as dropped.
    private var accounted: [TopicPartition: Int64] = [:]
    /// Records dropped unread so far.
    private(set) var records: Int64 = 0

    /// Takes a look at a group's partitions. Looks must come often enough that a group's position is seen before it
    /// jumps over the hole; a look too late counts too little.
    mutating func look(at lags: [PartitionLag]) {
        for lag in lags {
            let read = max(lag.committed ?? 0, accounted[lag.partition] ?? 0)
            if lag.low > read { records += lag.low - read }
            accounted[lag.partition] = max(read, lag.low)
        }
    }
}
