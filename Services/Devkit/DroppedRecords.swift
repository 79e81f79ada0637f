import Kafka

/// Counts records that a broker dropped before a group read them.
///
/// The embedded broker keeps 5 MiB per partition and silently drops the oldest records. The comparison must distinguish
/// those from records that the pipeline lost.
struct DroppedRecords: Sendable {
    /// Per partition, the first offset that is neither read nor dropped.
    private var accounted: [TopicPartition: Int64] = [:]
    /// Records dropped unread so far.
    private(set) var records: Int64 = 0

    /// Adds a measurement of a group's partitions. Measure often: a group that has passed a gap since the last
    /// measurement makes the count too low.
    mutating func measurement(at lags: [PartitionLag]) {
        for lag in lags {
            let read = max(lag.committed ?? 0, accounted[lag.partition] ?? 0)
            if lag.low > read { records += lag.low - read }
            accounted[lag.partition] = max(read, lag.low)
        }
    }
}
