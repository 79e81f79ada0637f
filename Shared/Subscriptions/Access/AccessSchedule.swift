import struct Foundation.Date
import struct Foundation.UUID

/// When one purchase gives access, past and future, as known now.
///
/// The only place where access is decided; everything else filters its periods by time.
public struct AccessSchedule: Sendable, Equatable {
    /// In order of time, never overlapping, none empty.
    public let periods: [AccessPeriod]
    /// The notification whose status says `active` although no known transaction explains it: one is missing, and Apple
    /// should be asked. Nil where all is explained.
    public let unexplainedStatus: UUID?

    /// - Parameter durations: of non-renewing products, by product id.
    public init(of purchase: PurchaseSnapshot, durations: [String: ProductDuration] = [:]) {
        var builder = AccessScheduleBuilder(purchase, durations: durations)
        builder.build()
        periods = builder.periods
        unexplainedStatus = builder.unexplainedStatus
    }

    /// The period that gives access at a moment; nil where none does.
    public func period(at moment: Date) -> AccessPeriod? { periods.first { $0.contains(moment) } }

    /// The next moment after which the answer is another one by the clock alone; nil where it stays.
    public func nextBoundary(after moment: Date) -> Date? {
        periods.flatMap { [$0.startsAt, $0.endsAt].compactMap(\.self) }.filter { $0 > moment }.min()
    }
}
