import Contracts

/// How the simulated store is set up: what a developer or a tester chooses at Apple.
struct Conditions: Sendable, Equatable {
    /// How many times faster than real time production runs.
    var timeScale = 1.0
    var sandboxSpeed = TimeScale.SandboxSpeed.fiveMinutes
    var sandboxRenewals = 12
    /// Days of billing grace; nil is off.
    var graceDays: Int? = 16
    /// Test accounts that cannot cancel, and that stop renewing.
    var hasSandboxQuirks = true
    /// Products of a type that no client knows.
    var hasUnknownProductType = true

    func timeScale(in environment: StoreEnvironment) -> TimeScale {
        TimeScale(
            environment: environment, scale: timeScale, sandboxSpeed: sandboxSpeed, graceDays: graceDays,
            sandboxRenewals: sandboxRenewals)
    }
}
