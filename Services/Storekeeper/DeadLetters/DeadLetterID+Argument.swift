import ArgumentParser
import Contracts
import Operations

extension DeadLetterID {
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
}
