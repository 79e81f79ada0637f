import Synchronization

/// Requests that wait for a change. Beyond the limit a request is answered at once, as if it had not asked to wait.
final class WaitingRequests: Sendable {
    private let limit: Int
    private let count = Mutex(0)

    init(limit: Int) { self.limit = limit }

    func enter() -> Bool {
        count.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
    }

    func leave() { count.withLock { $0 -= 1 } }
}
