import Storage

import struct Foundation.Date

/// Computes the figures of purchases that changed. Safe to run concurrently, and to end at any moment.
struct FigureJob: Sendable {
    let store: FigureStore
    let now: @Sendable () -> Date
    /// Purchases of one batch.
    var limit = 500

    /// Batches of one turn, so that the first computation of all purchases is many turns, between which the lease and the liveness probe
    /// see that the job works.
    static let batches = 100

    func turn() async throws {
        for _ in 0..<Self.batches {
            try Task.checkCancellation()
            guard try await store.update(limit: limit, at: now()) else { return }
        }
    }
}
