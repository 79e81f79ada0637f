import ArgumentParser
import Contracts
import Operations

extension DeadLetterID {
    /// - Throws: `ValidationError`.
    static func read(_ text: String) throws -> DeadLetterID {
        guard let id = DeadLetterID(text) else {
            throw ValidationError("\(text.escaped) is not a dead-letter id: expected partition/offset, such as 3/17")
        }
        let route = Topics.rejected.route
        guard (0..<Int32(route.partitions)).contains(id.partition) else {
            throw ValidationError(
                "no partition \(id.partition): \(route.name) has partitions 0 to \(route.partitions - 1)")
        }
        return id
    }
}
