import Synchronization

/// Chains that failed recently, by digest: the same forged leaf costs nothing a second time. Bounded; the oldest is dropped.
final class FailedChains: Sendable {
    private struct State {
        var rejections: [[UInt8]: VerificationFailure] = [:]
        var order: [[UInt8]] = []
        var oldest = 0
    }

    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int) { self.capacity = max(1, capacity) }

    /// Maximum number of chains.
    var count: Int { state.withLock(\.rejections.count) }

    func rejection(of digest: [UInt8]) -> VerificationFailure? { state.withLock { $0.rejections[digest] } }

    func insert(_ rejection: VerificationFailure, for digest: [UInt8]) {
        state.withLock { state in
            guard state.rejections.updateValue(rejection, forKey: digest) == nil else { return }
            if state.order.count < capacity { return state.order.append(digest) }
            state.rejections[state.order[state.oldest]] = nil
            state.order[state.oldest] = digest
            state.oldest = (state.oldest + 1) % capacity
        }
    }
}
