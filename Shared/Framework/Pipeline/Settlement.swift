/// Makes results durable, then moves the position.
public protocol Settlement<S>: Sendable {
    associatedtype S: Stage

    /// Either everything that the batch requires is durable when this returns ``Settled/settled``, or it throws and the same
    /// records are processed again.
    func settle(_ processed: ProcessedBatch<S>) async throws -> Settled
}

/// The result of a settlement.
public enum Settled: Sendable, Equatable {
    case settled
    /// Another instance has moved the position; nothing was done. The source rewinds to that position.
    case fenced
}
