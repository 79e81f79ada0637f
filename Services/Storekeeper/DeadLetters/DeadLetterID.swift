import ArgumentParser
import Contracts

/// Partition and offset in the dead-letter topic, such as `3/17`.
struct DeadLetterID: Hashable, Comparable, CustomStringConvertible {
    var partition: Int32
    var offset: Int64

    init(partition: Int32, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }

    /// - Throws: `ValidationError`.
    static func read(_ text: String) throws -> DeadLetterID {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let partition = Int32(parts[0]), let offset = Int64(parts[1]), offset >= 0 else {
            throw ValidationError("\(text.escaped) is not a dead-letter id: expected partition/offset, such as 3/17")
        }
        let route = Topics.rejected.route
        guard (0..<Int32(route.partitions)).contains(partition) else {
            throw ValidationError(
                "no partition \(partition): \(route.name) has partitions 0 to \(route.partitions - 1)")
        }
        return DeadLetterID(partition: partition, offset: offset)
    }

    var description: String { "\(partition)/\(offset)" }

    /// Its subject in the audit log, with the cluster: an offset identifies a record within its cluster only.
    func subject(in cluster: String) -> String { "dead letter \(cluster)/\(self)" }

    static func < (left: DeadLetterID, right: DeadLetterID) -> Bool {
        (left.partition, left.offset) < (right.partition, right.offset)
    }
}
