import Contracts

/// Compares when a purchase gives access with the simulator's own book-keeping, at every boundary of either and a
/// millisecond before. Pure.
struct AccessCheck: Sendable {
    /// By the simulator.
    var expected: [RunRecord.AccessPeriod]
    /// By the database.
    var found: [RunRecord.AccessPeriod]
    /// The last notification about the purchase, milliseconds since 1970.
    var followedUntil: Int64

    /// The first moment with another answer; nil where there is none.
    func difference(of name: String) -> Difference? {
        let boundaries = (expected + found).flatMap { [$0.startsAt, $0.endsAt].compactMap(\.self) }
        for moment in Set(boundaries.flatMap { [$0 - 1, $0] } + [followedUntil]).sorted() {
            let (expected, found) = (Self.period(in: expected, at: moment), Self.period(in: found, at: moment))
            guard expected?.productId != found?.productId else { continue }
            return Difference(
                of: name, field: "access at \(moment)", expected: expected?.productId, found: found?.productId)
        }
        return nil
    }

    private static func period(
        in periods: [RunRecord.AccessPeriod], at moment: Int64
    ) -> RunRecord.AccessPeriod? {
        periods.first { $0.startsAt <= moment && $0.endsAt.map { moment < $0 } ?? true }
    }
}
