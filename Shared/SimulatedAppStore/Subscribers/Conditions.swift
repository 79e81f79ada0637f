import Contracts

/// The settings of the simulated App Store: what a developer or tester selects at Apple.
struct Conditions: Sendable, Equatable {
    /// Factor by which time in production runs faster.
    var timeScale = 1.0
    var sandboxSpeed = TimeScale.SandboxSpeed.fiveMinutes
    var sandboxRenewals = 12
    /// Days of billing grace; nil is off.
    var graceDays: Int? = 16
    /// Test accounts that cannot cancel, and that stop renewing.
    var hasSandboxQuirks = true
    /// Products of a type that clients do not know.
    var hasUnknownProductType = true
    /// Divides Apple's hours between a refund request, its repeats and the decision, of requests that random customers make in the
    /// present, so that they can be answered; nil leaves the requests in the past like everything else.
    var refundScale: Double?

    func timeScale(in environment: StoreEnvironment) -> TimeScale {
        TimeScale(
            environment: environment, scale: timeScale, sandboxSpeed: sandboxSpeed, graceDays: graceDays,
            sandboxRenewals: sandboxRenewals)
    }
}
