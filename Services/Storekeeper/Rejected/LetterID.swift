import ArgumentParser
import Contracts

/// How people name a dead letter: partition and offset in the topic of dead letters, `3/17`.
struct LetterID: Hashable, Comparable, CustomStringConvertible {
    var partition: Int32
    var offset: Int64

    init(partition: Int32, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }

    /// - Throws: `ValidationError` saying what is wrong with it.
    static func read(_ text: String) throws -> LetterID {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let partition = Int32(parts[0]), let offset = Int64(parts[1]), offset >= 0 else {
            throw ValidationError("a dead letter is named by partition and offset, such as 3/17")
        }
        let route = Topics.rejected.route
        guard (0..<Int32(route.partitions)).contains(partition) else {
            throw ValidationError("\(route.name) has the partitions 0 to \(route.partitions - 1)")
        }
        return LetterID(partition: partition, offset: offset)
    }

    var description: String { "\(partition)/\(offset)" }

    /// What the trail calls it: an offset means something within its cluster only.
    func subject(in cluster: String) -> String { "dead letter \(cluster)/\(self)" }

    static func < (left: LetterID, right: LetterID) -> Bool {
        (left.partition, left.offset) < (right.partition, right.offset)
    }
}
