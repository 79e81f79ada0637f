import ArgumentParser
import Contracts

/// How people name a dead letter: partition and offset in the topic of dead letters, `3/17`.
struct LetterID: ExpressibleByArgument, Hashable, Comparable, CustomStringConvertible {
    var partition: Int32
    var offset: Int64

    init(partition: Int32, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }

    init?(argument: String) {
        let parts = argument.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let partition = Int32(parts[0]), let offset = Int64(parts[1]),
            (0..<Int32(Topics.rejected.route.partitions)).contains(partition), offset >= 0
        else { return nil }
        self.init(partition: partition, offset: offset)
    }

    var description: String { "\(partition)/\(offset)" }

    /// What the trail calls it: an offset means something within its cluster only.
    func subject(in cluster: String) -> String { "dead letter \(cluster)/\(self)" }

    static func < (left: LetterID, right: LetterID) -> Bool {
        (left.partition, left.offset) < (right.partition, right.offset)
    }
}
