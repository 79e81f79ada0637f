import Synchronization

/// Limits the bytes of all requests in progress. Above the limit, the oldest incomplete body is dropped.
///
/// A body from Apple is complete within milliseconds; one that becomes the oldest is slow or malicious. A complete body that
/// waits for Kafka is never dropped.
final class BodyBudget: Sendable {
    private struct State {
        var held = 0
        /// The most since the last relief.
        var peak = 0
        var next: UInt64 = 0
        /// Bodies that are not complete.
        var receiving: [UInt64: ReceivedBody] = [:]
        /// By age, with gaps where a body is complete or gone.
        var order: [UInt64] = []
        var front = 0
    }

    /// In bytes.
    let limit: Int
    private let onRelief: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameter onRelief: called when nearly all is free again after more than half was in hand, as after a flood of bodies
    ///   that are never completed: what the allocator keeps for the next flood is better given back.
    init(limit: Int, onRelief: @escaping @Sendable () -> Void = {}) {
        self.limit = limit
        self.onRelief = onRelief
    }

    /// Bytes held now.
    var held: Int { state.withLock(\.held) }

    /// A body that is about to be received.
    func begin() -> ReceivedBody {
        state.withLock { state in
            let body = ReceivedBody(number: state.next, budget: self)
            state.receiving[body.number] = body
            state.order.append(body.number)
            state.next += 1
            return body
        }
    }

    /// Accounts for more bytes.
    /// - Returns: the body to drop for them, perhaps this one; nil where none can be dropped.
    fileprivate func take(_ bytes: Int) -> [ReceivedBody]? {
        state.withLock { state in
            state.held += bytes
            state.peak = max(state.peak, state.held)
            var victims: [ReceivedBody] = []
            var freed = 0
            while state.held - freed > limit {
                guard let victim = Self.oldest(&state) else {
                    state.held -= bytes
                    return nil
                }
                freed += victim.size
                victims.append(victim)
            }
            return victims
        }
    }

    private static func oldest(_ state: inout State) -> ReceivedBody? {
        while state.front < state.order.count {
            let number = state.order[state.front]
            state.front += 1
            if let body = state.receiving.removeValue(forKey: number) { return body }
        }
        return nil
    }

    /// The body is complete: from now on it is not dropped.
    fileprivate func completed(_ number: UInt64) { state.withLock { Self.settle(number, &$0) } }

    fileprivate func give(_ bytes: Int, of number: UInt64) {
        let isRelieved = state.withLock { state in
            state.held -= bytes
            Self.settle(number, &state)
            guard state.peak > limit / 2, state.held <= limit / 16 else { return false }
            state.peak = 0
            return true
        }
        if isRelieved { onRelief() }
    }

    private static func settle(_ number: UInt64, _ state: inout State) {
        state.receiving[number] = nil
        while state.front < state.order.count, state.receiving[state.order[state.front]] == nil { state.front += 1 }
        guard state.front > 1024, state.front * 2 > state.order.count else { return }
        state.order.removeFirst(state.front)
        state.front = 0
    }
}

/// The bytes of one request, in one buffer.
final class ReceivedBody: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        /// The bytes that the budget has counted.
        var size = 0
        var isDropped = false
    }

    fileprivate let number: UInt64
    private let budget: BodyBudget
    private let state = Mutex(State())

    fileprivate init(number: UInt64, budget: BodyBudget) {
        self.number = number
        self.budget = budget
    }

    deinit { release() }

    /// Read under the budget's lock; changed only by the request's own task, or once it is dropped.
    fileprivate var size: Int { state.withLock(\.size) }

    /// How many bytes have arrived.
    var count: Int { state.withLock(\.bytes.count) }

    /// Adds a chunk.
    /// - Returns: false if this body was dropped, now or before: it holds nothing any more.
    func append(_ piece: some Collection<UInt8>) -> Bool {
        // Counted before it is allocated, in steps of doubling, so that what is counted is what is held.
        let growth: Int = state.withLock { state in
            let needed = state.bytes.count + piece.count
            guard !state.isDropped, needed > state.size else { return 0 }
            return max(needed, 2 * state.size, 4096) - state.size
        }
        if growth > 0 {
            guard let victims = budget.take(growth) else {
                release()
                return false
            }
            state.withLock { state in
                state.size += growth
                state.bytes.reserveCapacity(state.size)
            }
            for victim in victims { victim.drop() }
        }
        return state.withLock { state in
            guard !state.isDropped else { return false }
            state.bytes.append(contentsOf: piece)
            return true
        }
    }

    /// All bytes of a complete body; nil if it was dropped. They stay counted until ``release()``.
    func complete() -> [UInt8]? {
        budget.completed(number)
        return state.withLock { state in
            guard !state.isDropped else { return nil }
            defer { state.bytes = [] }
            return state.bytes
        }
    }

    private func drop() {
        state.withLock { state in
            state.isDropped = true
            state.bytes = []
        }
        release()
    }

    /// The request was answered.
    func release() {
        let size = state.withLock { state in
            defer { state.size = 0 }
            return state.size
        }
        budget.give(size, of: number)
    }
}
