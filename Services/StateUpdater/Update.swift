import Chassis
import Contracts
import Interpretation
import Pipeline
import Records
import Storage

import struct Foundation.Date

/// Reads the ledger row and the event from a notification. Storage decides whether a newer version is known.
struct Update: Stage {
    /// How many records are decoded at the same time.
    var cores = 1

    func process(_ deliveries: [Delivery<UniqueNotification>]) async -> [StageResult<LedgerEntry, UpdateReason>] {
        await deliveries.concurrentMap(cores: cores) { result(on: $0.message, at: $0.position) }
    }

    func result(on unique: UniqueNotification, at position: LogPosition)
        -> StageResult<LedgerEntry, UpdateReason>
    {
        do throws(ContractFault) {
            return result(on: try unique.notification(), at: position)
        } catch {
            return .deadLetter(.undecodable, message: error.description)
        }
    }

    func result(on notification: VerifiedNotification, at position: LogPosition)
        -> StageResult<LedgerEntry, UpdateReason>
    {
        do {
            var notification = notification
            // Parsed, not copied: the database rejects an invalid trace context, and the whole batch with it.
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
    /// This build cannot decode a payload that Apple signed and the verifier passed: a bug, or a change of Apple's types.
    case payload
    /// Postgres cannot store a value in it, such as a date before the year 4713 BC.
    case unstorable

    var countsTowardsRejectionLimit: Bool { true }
}
