import Chassis
import Pipeline
import Storage

import struct Foundation.Date

/// Recalculates access after an operator set the duration of a product, see `AccessRecalculation`.
struct RecalculateAccess: Service {
    let recalculation: AccessRecalculation
    let now: @Sendable () -> Date
    let logger: Logger
    var clock: any Clock<Duration> = ContinuousClock()

    /// Recalculates until the process shuts down.
    func run() async throws {
        await RetryLoop(clock: clock) { [logger] error in
            logger.warning("Could not recalculate access; retrying", metadata: ["error": "\(error)"])
        }.run { _ in
            try await turn() ? .zero : .seconds(5)
        }
    }

    /// Recalculates the next batch of purchases.
    /// - Returns: whether there may be more.
    func turn() async throws -> Bool {
        guard let batch = try await recalculation.next(at: now()) else { return false }
        logger.info(
            batch.purchases > 0
                ? "Recalculated access by the product's new duration"
                : "Access of all purchases follows the product's duration",
            metadata: [
                "app": "\(batch.bundleId)", "product": "\(batch.productId)", "purchases": "\(batch.purchases)",
                "changed": "\(batch.changed)",
            ])
        return true
    }
}
