import CRDKafka
import Foundation

/// Owns an `rd_kafka_topic_partition_list_t`.
final class PartitionList {
    private let pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    init(_ positions: [TopicPartitionOffset]) {
        pointer = rd_kafka_topic_partition_list_new(Int32(clamping: positions.count))
        for position in positions {
            guard let element = rd_kafka_topic_partition_list_add(pointer, position.topic, position.partition)
            else { continue }
            element.pointee.offset = position.offset
            // Not as a C string: another client may have committed a NUL, and the size counts what is behind it.
            let metadata = Array((position.metadata ?? "").utf8)
            guard !metadata.isEmpty, let copy = malloc(metadata.count) else { continue }
            copy.copyMemory(from: metadata, byteCount: metadata.count)
            // The list frees it with `free`.
            element.pointee.metadata = copy
            element.pointee.metadata_size = metadata.count
        }
    }

    convenience init(_ partitions: [TopicPartition]) {
        self.init(partitions.map { TopicPartitionOffset($0, offset: Int64(RD_KAFKA_OFFSET_INVALID)) })
    }

    /// For subscriptions, which name no partition.
    convenience init(topics: [String]) {
        self.init(topics.map { TopicPartition(topic: $0, partition: -1) })
    }

    init(takingOwnershipOf pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>) { self.pointer = pointer }

    func withPointer<Result>(
        _ body: (UnsafeMutablePointer<rd_kafka_topic_partition_list_t>) throws -> Result
    ) rethrows -> Result {
        defer { withExtendedLifetime(self) {} }
        return try body(pointer)
    }

    func positions() -> [TopicPartitionOffset] { Self.positions(borrowing: pointer) }

    /// Each partition has an error of its own beside the call's.
    func throwFirstError(doing: String) throws { try Self.throwFirstError(borrowing: pointer, doing: doing) }

    static func throwFirstError(
        borrowing pointer: UnsafePointer<rd_kafka_topic_partition_list_t>, doing: String
    ) throws {
        for index in 0..<Int(pointer.pointee.cnt) {
            let element = pointer.pointee.elems[index]
            try KafkaError.check(element.err, doing: "\(doing) of \(position(element).topicPartition)")
        }
    }

    static func positions(
        borrowing pointer: UnsafePointer<rd_kafka_topic_partition_list_t>
    ) -> [TopicPartitionOffset] {
        (0..<Int(pointer.pointee.cnt)).map { position(pointer.pointee.elems[$0]) }
    }

    private static func position(_ element: rd_kafka_topic_partition_t) -> TopicPartitionOffset {
        TopicPartitionOffset(
            topic: String(cString: element.topic), partition: element.partition, offset: element.offset,
            metadata: metadata(element))
    }

    /// Any client may have committed it, so it need not be text.
    private static func metadata(_ element: rd_kafka_topic_partition_t) -> String? {
        guard let bytes = element.metadata, element.metadata_size > 0 else { return nil }
        return String(
            decoding: UnsafeRawBufferPointer(start: bytes, count: element.metadata_size), as: UTF8.self)
    }

    deinit { rd_kafka_topic_partition_list_destroy(pointer) }
}
