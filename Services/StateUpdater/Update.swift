import Chassis
import Contracts
import Interpretation
import Pipeline
import Storage

import struct Foundation.Date

/// What does it change? Reads the event out of a notification; whether something newer is known is decided where the state is.
struct Update: Stage {
    /// How many records are read at the same time.
    var cores = 1

    func process(_ deliveries: [Delivery<UniqueNotification>]) async -> [StageResult<LedgerEntry, UpdateReason>] {
        await deliveries.concurrentMap(cores: cores) { result(on: $0.message.verified, at: $0.position) }
    }

    func result(on notification: VerifiedNotification, at position: LogPosition)
        -> StageResult<LedgerEntry, UpdateReason>
    {
        do {
            var notification = notification
            // Read, not copied: the database would refuse a text that is not one, and the batch with it.
            notification.traceparent = notification.traceparent.flatMap { TraceContext($0)?.traceparent }
            let entry = try LedgerEntry(notification, position: position)
            if let fault = entry.fault { return .deadLetter(.unstorable, message: fault) }
            return .forward(entry)
        } catch {
            return .deadLetter(.payload, message: "\(error)")
        }
    }
}

/// Why a unique notification did not reach the ledger.
enum UpdateReason: String, StageReason {
    case undecodable
    /// Apple signed it, the verifier passed it, and this build cannot read it: our release, or Apple's types moved.
    case payload
    /// Postgres has no room for a value in it, such as a date before the year 4713 BC.
    case unstorable

    var countsTowardsRejectionLimit: Bool { true }
}
