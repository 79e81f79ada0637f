import Storage

import struct Foundation.Date

/// Computes the figures of purchases that changed. Safe to run concurrently, and to end at any moment.
struct FigureJob: Sendable {
    let store: FigureStore
    let now: @Sendable () -> Date
    /// Purchases that are taken at once.
    var limit = 25_000

    /// The number of times that a turn takes purchases, so that the first computation of all of them is many turns, between which the lease and the liveness
    /// probe see that the job works.
    static let steps = 2

    @discardableResult func turn() async throws -> LeasedJob.Result {
        for _ in 0..<Self.steps {
            try Task.checkCancellation()
            guard try await store.update(limit: limit, at: now()) else { return .complete }
        }
        return .partial
    }
}
