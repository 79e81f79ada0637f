import Chassis
import Pipeline
import Storage

import struct Foundation.Date

/// Applies policies for shared Apple accounts to the purchases that an interrupted command left, see `PolicyApplication`.
struct ApplyPolicy: Service {
    let application: PolicyApplication
    let now: @Sendable () -> Date
    let logger: Logger
    var clock: any Clock<Duration> = ContinuousClock()

    /// Applies until the process shuts down.
    func run() async throws {
        await RetryLoop(clock: clock) { [logger] error in
            logger.warning("Could not apply a policy to purchases; retrying", metadata: ["error": "\(error)"])
        }.run { _ in
            try await turn() ? .zero : .seconds(5)
        }
    }

    /// Decides about the next portion of purchases.
    /// - Returns: whether there may be more.
    func turn() async throws -> Bool {
        guard let portion = try await application.next(at: now()) else { return false }
        guard portion.purchases == 0 else { return true }
        logger.info(
            "The policy of the app decides about all purchases",
            metadata: ["app": "\(portion.bundleId)", "environment": "\(portion.environment.rawValue)"])
        return true
    }
}
