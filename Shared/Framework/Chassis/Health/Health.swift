import Synchronization

/// The state behind `/livez` and `/readyz`.
public final class Health: Sendable {
    private struct State {
        var readinessChecks: [@Sendable () -> String?] = []
        var livenessChecks: [@Sendable () -> String?] = []
        var isDraining = false
    }

    private let instant: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// - Parameter instant: the clock of liveness probes.
    public init(instant: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.instant = instant
    }

    /// A new readiness check, unmet until it is reported as met.
    /// - Parameters:
    ///   - name: what it is about, for example `kafka`.
    ///   - reason: what has to happen first, a noun phrase.
    public func readinessCheck(_ name: String, waitingFor reason: String = "the first connection") -> ReadinessCheck {
        let requirement = ReadinessCheck(name: name, waitingFor: reason)
        addReadinessCheck { requirement.complaint }
        return requirement
    }

    /// A new liveness probe of a loop, alive from now on.
    /// - Parameter limit: the longest healthy duration of one turn of the loop.
    public func livenessProbe(_ name: String, limit: Duration) -> LivenessProbe {
        let liveness = LivenessProbe(name: name, limit: limit, instant: instant)
        addLivenessCheck { liveness.complaint }
        return liveness
    }

    /// Called at every `/livez`: why the process should be restarted, or nil.
    public func addLivenessCheck(_ check: @escaping @Sendable () -> String?) {
        state.withLock { $0.livenessChecks.append(check) }
    }

    /// Called at every `/readyz`: why the process is not ready, or nil.
    public func addReadinessCheck(_ check: @escaping @Sendable () -> String?) {
        state.withLock { $0.readinessChecks.append(check) }
    }

    /// Not ready from now on, for good: the process is stopping.
    public func drain() {
        state.withLock { $0.isDraining = true }
    }

    /// Why the process should be restarted; empty while all loops run.
    public var hung: [String] {
        state.withLock { $0.livenessChecks }.compactMap { $0() }
    }

    /// Why the process should get no work; empty when it is ready.
    public var notReady: [String] {
        let state = self.state.withLock { $0 }
        return (state.isDraining ? ["draining: the process is stopping"] : [])
            + state.readinessChecks.compactMap { $0() }
    }
}
