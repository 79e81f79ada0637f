import Chassis
import Pipeline
import Storage

import struct Foundation.Date

/// Computes access again where an operator set the duration of a product, see `AccessRecalculation`.
struct RecalculateAccess: Service {
    let recalculation: AccessRecalculation
    let now: @Sendable () -> Date
    let logger: Logger
    var clock: any Clock<Duration> = ContinuousClock()

    /// Until the process is told to stop.
    func run() async throws {
        await RetryLoop(clock: clock) { [logger] error in
            logger.warning("Access was not computed again; the next attempt follows", metadata: ["error": "\(error)"])
        }.run { _ in
            try await turn() ? .zero : .seconds(5)
        }
    }

    /// The next portion.
    /// - Returns: whether there may be more.
    func turn() async throws -> Bool {
        guard let portion = try await recalculation.next(at: now()) else { return false }
        logger.info(
            portion.purchases > 0
                ? "Access was computed again by the product's new duration"
                : "Access of all purchases follows the product's duration",
            metadata: [
                "app": "\(portion.bundleId)", "product": "\(portion.productId)", "purchases": "\(portion.purchases)",
                "changed": "\(portion.changed)",
            ])
        return true
    }
}
