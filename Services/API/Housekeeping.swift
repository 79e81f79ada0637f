import Chassis
import Pipeline
import Postgres
import Storage

/// Forgets stored answers once their idempotency keys may be used again, and completes erasures that were interrupted.
struct Housekeeping: Service {
    static let interval = Duration.seconds(600)
    /// Seconds after which an erasure is no longer in progress.
    static let patience: Double = 600

    let database: Database
    let clock: ProcessClock
    let logger: Logger

    func run() async throws {
        await RetryLoop(clock: ContinuousClock()) { error in
            logger.warning("Could not delete old answers; retrying", metadata: ["error": "\(error)"])
        }.run { _ in
            try await turn()
            return Self.interval
        }
    }

    func turn() async throws {
        let expiry = clock.now().addingTimeInterval(-Idempotency.retention)
        let deleted = try await database.withConnection { connection in
            try await ClockCheck(connection: connection, now: clock.unmoved).run()
            return try await IdempotencyStore(connection).delete(before: expiry)
        }
        if deleted > 0 { logger.debug("Old answers deleted", metadata: ["answers": "\(deleted)"]) }
        // Erasures of the last minutes may still be in progress.
        let ended = clock.now().addingTimeInterval(-Self.patience)
        let swept: Int
        do {
            swept = try await database.withConnection { connection in
                try await ErasureStore(connection).sweepInterrupted(before: ended)
            }
        } catch let error where !(error is CancellationError) {
            // The next turn goes on after the payloads that were looked through. Thrown, it would be repeated at once.
            logger.warning(
                """
                Could not complete an erasure; retrying in ten minutes. Where that stays, erase the customer again by storekeeper \
                customers erase, which has no limit of time: the table erased_account names the account as unswept_account
                """,
                metadata: ["error": "\(error)"])
            return
        }
        if swept > 0 { logger.notice("Interrupted erasures completed", metadata: ["accounts": "\(swept)"]) }
    }
}
