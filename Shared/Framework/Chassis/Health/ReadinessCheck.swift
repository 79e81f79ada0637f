import Synchronization

/// One readiness check.
///
/// It begins unmet, so a process is not ready before everything it waits for has happened.
public final class ReadinessCheck: Sendable {
    let name: String
    private let reason: Mutex<String?>

    init(name: String, waitingFor reason: String) {
        self.name = name
        self.reason = Mutex("waiting for \(reason)")
    }

    /// The check is met from now on.
    public func passes() {
        reason.withLock { $0 = nil }
    }

    /// The check is not met, because of `reason`, which `/readyz` shows to operators.
    public func fails(_ reason: String) {
        self.reason.withLock { $0 = reason }
    }

    var complaint: String? {
        reason.withLock { $0 }.map { "\(name): \($0)" }
    }
}
