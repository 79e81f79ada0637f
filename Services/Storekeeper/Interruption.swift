import UnixSignals

/// Ctrl-C and SIGTERM as an error, so that whatever is underway unwinds and cleans up on the same path as a failure.
struct Interruption: Error, CustomStringConvertible {
    var description: String { "interrupted" }

    /// Runs `work` until it ends or a signal comes; a signal cancels it, and waits until it has cleaned up.
    ///
    /// - Throws: what `work` throws, or `Interruption`.
    static func interrupting<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await work() }
            group.addTask {
                for await _ in signals where !Task.isCancelled { return nil }
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let result = first else {
                group.cancelAll()
                while let _ = await group.nextResult() {}
                throw Interruption()
            }
            return result
        }
    }
}
