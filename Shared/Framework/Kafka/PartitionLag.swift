/// The lag of a group in one partition.
public struct PartitionLag: Sendable, Hashable {
    /// The partition in question.
    public var partition: TopicPartition
    /// The group's position at the broker; nil if it has never committed one.
    public var committed: Int64?
    /// What the group committed beside it.
    public var metadata: String?
    /// The first offset that the partition still has.
    public var low: Int64
    /// The offset that the next record will get.
    public var end: Int64

    /// `KafkaAdmin.lag` creates it.
    public init(partition: TopicPartition, committed: Int64?, metadata: String? = nil, low: Int64, end: Int64) {
        self.partition = partition
        self.committed = committed
        self.metadata = metadata
        self.low = low
        self.end = end
    }

    /// Number of records not read yet. Records dropped by retention do not count: they cannot be read.
    public var records: Int64 { end - settled }

    /// The group's position within what the partition has: any client can commit any number, and sums of them would overflow.
    public var settled: Int64 { min(max(committed ?? low, low), end) }
}
