/// Makes results durable, then moves the position.
public protocol Settlement<S>: Sendable {
    associatedtype S: Stage

    /// Either everything the batch asks for is durable when this returns ``Settled/settled``, or it throws and the same
    /// records are processed again.
    func settle(_ processed: ProcessedBatch<S>) async throws -> Settled
}

/// How a settlement ended.
public enum Settled: Sendable, Equatable {
    case settled
    /// Another instance has moved on from here; nothing was done. The source rewinds to where that one stands.
    case fenced
}
