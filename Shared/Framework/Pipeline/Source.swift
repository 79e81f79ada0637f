/// Returns records, a batch at a time, and can go back to what was not settled.
public protocol Source: Sendable {
    /// The next records; nil where none came for a while. Waits for a bounded time only, so that a worker that stops
    /// notices.
    func next() async throws -> Batch?

    /// Goes back to the first record that is not settled. Called after a failure or a fence, before ``next()``.
    func rewind() async throws

    /// Releases what the source holds, so that another instance can take over at once.
    func close() async throws
}
