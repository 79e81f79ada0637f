import struct Foundation.Date
import struct Foundation.UUID

/// The access periods of one purchase, past and future, by the facts known now.
///
/// This is the only place that decides access; everything else filters its periods by time.
public struct AccessSchedule: Sendable, Equatable {
    /// In order of time, never overlapping, none empty.
    public let periods: [AccessPeriod]
    /// The notification whose status the known transactions do not explain: it is active and they give no access, or it is not
    /// and they do. A transaction is missing or the payload contradicts itself, and recovery should ask Apple. Nil where they
    /// explain it.
    public let unexplainedStatus: UUID?

    /// - Parameter durations: the configured durations of non-renewing products, by product id.
    public init(of purchase: PurchaseSnapshot, durations: [String: ProductDuration] = [:]) {
        var builder = AccessScheduleBuilder(purchase, durations: durations)
        builder.build()
        periods = builder.periods
        unexplainedStatus = builder.unexplainedStatus
    }

    /// The period that contains a moment; nil where none does.
    public func period(at moment: Date) -> AccessPeriod? { periods.first { $0.contains(moment) } }
}
