/// Partition and offset in the dead-letter topic, such as `3/17`.
package struct DeadLetterID: Hashable, Comparable, CustomStringConvertible {
    package var partition: Int32
    package var offset: Int64

    package init(partition: Int32, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }

    /// Nil where the text is not as in ``description``.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let partition = Int32(parts[0]), let offset = Int64(parts[1]), offset >= 0 else {
            return nil
        }
        self.init(partition: partition, offset: offset)
    }

    package var description: String { "\(partition)/\(offset)" }

    /// Its subject in the audit log, with the cluster: an offset identifies a record within its cluster only.
    package func subject(in cluster: String) -> String { "dead letter \(cluster)/\(self)" }

    package static func < (left: DeadLetterID, right: DeadLetterID) -> Bool {
        (left.partition, left.offset) < (right.partition, right.offset)
    }
}
