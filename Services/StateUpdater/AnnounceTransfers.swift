import Chassis
import Pipeline
import Storage

import struct Foundation.Date

/// Tells of purchases that restores moved between accounts, see `TransferStore`.
struct AnnounceTransfers: Service {
    let transfers: TransferStore
    let now: @Sendable () -> Date
    let logger: Logger
    var clock: any Clock<Duration> = ContinuousClock()

    /// Announces until the process shuts down.
    func run() async throws {
        await RetryLoop(clock: clock) { [logger] error in
            logger.warning("Could not announce transfers of purchases; retrying", metadata: ["error": "\(error)"])
        }.run { _ in
            try await transfers.announce(at: now()) > 0 ? .zero : .seconds(1)
        }
    }
}
