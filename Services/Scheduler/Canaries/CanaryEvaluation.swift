import ServerAPI
import Storage

import struct Foundation.Date
import struct Foundation.TimeInterval

/// The outcome of a test notification, from Apple's status and the ledger.
enum CanaryEvaluation {
    /// - Parameter patience: time limit from the request to the ledger.
    /// - Returns: nil while it may still arrive.
    static func outcome(of canary: Canary, patience: TimeInterval, now: Date) -> Canary.Outcome? {
        if canary.arrivedAt != nil { return .arrived }
        guard now.timeIntervalSince(canary.requestedAt) >= patience else { return nil }
        guard canary.notificationUUID != nil else { return .unsent }
        return canary.attemptResult == SendAttemptResult.success.rawValue ? .lost : .unreached
    }
}

extension Canary.Outcome {
    /// Whether other notifications of that time may be missing, too.
    var isAlarming: Bool { self == .lost || self == .unreached }
}
