import Development
import Kafka

extension DevelopmentBroker {
    /// Writes the marker of a committed transaction, which librdkafka's mock cluster does not. For a single broker.
    package func writeTransactionMarker(to partition: TopicPartition) async throws {
        let consumer = try Consumer(configuration, group: "marker", logger: .quiet)
        let end = try await consumer.watermarks([partition])[0].high
        let client = try RawClient(port: bootstrapServers.split(separator: ":").last.flatMap { Int($0) } ?? 0)
        await client.send(Self.produce(Self.marker, to: partition))
        while try await consumer.watermarks([partition])[0].high == end {}
    }

    /// A request of version 3.
    private static func produce(_ batch: [UInt8], to partition: TopicPartition) -> [UInt8] {
        var request: [UInt8] = []
        request.append(number: Int16(0))
        request.append(number: Int16(3))
        request.append(number: Int32(1))
        request.append(text: "marker")
        // No transactional id, all replicas, the timeout.
        request.append(number: Int16(-1))
        request.append(number: Int16(-1))
        request.append(number: Int32(5000))
        request.append(number: Int32(1))
        request.append(text: partition.topic)
        request.append(number: Int32(1))
        request.append(number: partition.partition)
        return request.appended(batch).withLength
    }

    /// A batch of version 2 with one control record.
    private static var marker: [UInt8] {
        var batch: [UInt8] = []
        // Leader epoch, magic, checksum, attributes (transactional, control), last offset delta.
        batch.append(number: Int32(0))
        batch.append(number: Int8(2))
        batch.append(number: Int32(0))
        batch.append(number: Int16(0x30))
        batch.append(number: Int32(0))
        for time in [Int64(1_700_000_000_000), 1_700_000_000_000] { batch.append(number: time) }
        // Producer's id and epoch, sequence, number of records.
        batch.append(number: Int64(-1))
        batch.append(number: Int16(-1))
        batch.append(number: Int32(-1))
        batch.append(number: Int32(1))
        // Its length, attributes and deltas; a key of version 0 and type 1, which is a commit; a value; no headers.
        batch += [32, 0, 0, 0, 8, 0, 0, 0, 1, 12, 0, 0, 0, 0, 0, 0, 0]
        return [UInt8](repeating: 0, count: 8) + batch.withLength
    }
}

extension [UInt8] {
    fileprivate mutating func append(number: some FixedWidthInteger) {
        self += Swift.withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) }
    }

    fileprivate mutating func append(text: String) {
        append(number: Int16(text.utf8.count))
        self += Array(text.utf8)
    }

    fileprivate func appended(_ bytes: [UInt8]) -> [UInt8] { self + bytes.withLength }

    fileprivate var withLength: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: Int32(count))
        return bytes + self
    }
}
