import Synchronization

/// What `/livez` and `/readyz` answer from.
public final class Health: Sendable {
    private struct State {
        var readinessChecks: [@Sendable () -> String?] = []
        var livenessChecks: [@Sendable () -> String?] = []
        var isDraining = false
    }

    private let instant: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// - Parameter instant: the clock that pulses are measured by.
    public init(instant: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.instant = instant
    }

    /// A new condition of readiness, unmet until somebody says otherwise.
    /// - Parameters:
    ///   - name: what the condition is about, for example `kafka`.
    ///   - reason: why it does not hold yet.
    public func readinessCheck(_ name: String, waitingFor reason: String = "warming up") -> ReadinessCheck {
        let requirement = ReadinessCheck(name: name, waitingFor: reason)
        addReadinessCheck { requirement.complaint }
        return requirement
    }

    /// A new sign of life for a loop, alive from now on.
    /// - Parameter limit: the longest that one turn of the loop can take while all is well.
    public func livenessProbe(_ name: String, limit: Duration) -> LivenessProbe {
        let liveness = LivenessProbe(name: name, limit: limit, instant: instant)
        addLivenessCheck { liveness.complaint }
        return liveness
    }

    /// Asked at every `/livez`: why the process should be restarted, nil while it should not.
    public func addLivenessCheck(_ check: @escaping @Sendable () -> String?) {
        state.withLock { $0.livenessChecks.append(check) }
    }

    /// Asked at every `/readyz`: why the process is not ready, nil while it is.
    public func addReadinessCheck(_ check: @escaping @Sendable () -> String?) {
        state.withLock { $0.readinessChecks.append(check) }
    }

    /// Not ready from now on, for good: the process is asked to stop.
    public func drain() {
        state.withLock { $0.isDraining = true }
    }

    /// Why the process should be restarted; empty while all loops turn.
    public var hung: [String] {
        state.withLock { $0.livenessChecks }.compactMap { $0() }
    }

    /// Why the process should get no work; empty when it is ready.
    public var notReady: [String] {
        let state = self.state.withLock { $0 }
        return (state.isDraining ? ["draining: the process was asked to stop"] : [])
            + state.readinessChecks.compactMap { $0() }
    }
}
