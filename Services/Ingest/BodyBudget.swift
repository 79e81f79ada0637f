import Synchronization

/// The bytes of all requests in hand, together. Beyond it the body that began first and is still incomplete gives way.
///
/// A body of Apple's is complete within milliseconds; who sends slowly enough to become the oldest is slow, or means
/// harm. What is complete and waits for Kafka is never dropped.
final class BodyBudget: Sendable {
    private struct State {
        var held = 0
        var next: UInt64 = 0
        /// Those whose end has not come.
        var receiving: [UInt64: ReceivedBody] = [:]
        /// By age, with gaps where one is complete or gone.
        var order: [UInt64] = []
        var front = 0
    }

    /// In bytes.
    let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

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
    /// - Returns: who has to give way for them, perhaps the body itself; nil where nobody can.
    fileprivate func take(_ bytes: Int) -> [ReceivedBody]? {
        state.withLock { state in
            state.held += bytes
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

    /// Its end has come: from now on it does not give way.
    fileprivate func completed(_ number: UInt64) { state.withLock { Self.settle(number, &$0) } }

    fileprivate func give(_ bytes: Int, of number: UInt64) {
        state.withLock { state in
            state.held -= bytes
            Self.settle(number, &state)
        }
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
        /// What the budget was told of.
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

    /// How many bytes have come.
    var count: Int { state.withLock(\.bytes.count) }

    /// Adds a piece.
    /// - Returns: false if this body had to give way, now or before: it holds nothing any more.
    func append(_ piece: some Collection<UInt8>) -> Bool {
        // Told before it is allocated. In steps of doubling, so that what is told is what is held.
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

    /// All bytes, once the end has come; nil if this body had to give way. They stay accounted for until ``release()``.
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

    /// The request is answered.
    func release() {
        let size = state.withLock { state in
            defer { state.size = 0 }
            return state.size
        }
        budget.give(size, of: number)
    }
}
