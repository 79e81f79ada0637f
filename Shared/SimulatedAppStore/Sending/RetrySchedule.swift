import Contracts

/// When Apple retries.
///
/// Production: five times, 1, 12, 24, 48 and 72 hours after the attempt before. Sandbox: never.
struct RetrySchedule: Sendable, Equatable {
    private static let hours: [Double] = [1, 12, 24, 48, 72]

    /// Factor by which retries are faster than Apple's: at 3600 an hour lasts a second.
    var scale: Double
    /// Apple does not. Without it a failed delivery of a sandbox run is lost.
    var retriesSandbox: Bool
    /// Apple documents that it does; since spring 2026 developers report that it does not.
    var retriesBadRequests: Bool

    /// - Parameters:
    ///   - attempt: the number of the attempt that failed, from 1.
    ///   - status: its answer, nil if there was none.
    /// - Returns: how long to wait from the end of that attempt; nil if Apple gives up.
    func delay(after attempt: Int, status: Int?, in environment: StoreEnvironment) -> Duration? {
        guard environment == .production || retriesSandbox else { return nil }
        if let status, (400...499).contains(status), !retriesBadRequests { return nil }
        guard attempt >= 1, attempt <= Self.hours.count else { return nil }
        return .seconds(Self.hours[attempt - 1] * 3600 / scale)
    }
}
