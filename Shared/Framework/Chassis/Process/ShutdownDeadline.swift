import Dispatch
import Foundation

/// Ends a shutdown that takes too long, whatever hangs.
///
/// On a thread of its own, because a blocked cooperative pool is one of the things that may hang. The next process
/// repeats what was not committed; correctness does not suffer.
final class ShutdownDeadline: Sendable {
    private let limit: Duration
    private let whenOver: @Sendable () -> Void
    private let disarmed = DispatchSemaphore(value: 0)

    /// - Parameter whenOver: called on the deadline's thread unless `disarm` comes first.
    init(limit: Duration, whenOver: @escaping @Sendable () -> Void) {
        self.limit = limit
        self.whenOver = whenOver
    }

    /// The deadline begins now. Call it once.
    func arm() {
        let thread = Thread { [limit, disarmed, whenOver] in
            if disarmed.wait(timeout: .now() + limit / .seconds(1)) == .timedOut { whenOver() }
        }
        thread.name = "deadline"
        thread.start()
    }

    /// The shutdown is done.
    func disarm() { disarmed.signal() }
}
