import struct Foundation.Date
import struct Foundation.TimeInterval

/// An interval of time that includes its start and excludes its end.
struct Interval: Equatable {
    var from: Date
    var to: Date

    var length: TimeInterval { to.timeIntervalSince(from) }

    /// The parts of the interval that no other interval covers, in order of time.
    func without(_ taken: [Interval]) -> [Interval] {
        var rest: [Interval] = []
        var start = from
        for other in taken.sorted(by: { $0.from < $1.from }) where other.from < to && start < other.to {
            if start < other.from { rest.append(Interval(from: start, to: other.from)) }
            start = other.to
        }
        if start < to { rest.append(Interval(from: start, to: to)) }
        return rest
    }
}

extension Date {
    /// After every date. Foundation's `distantFuture` is the year 4001, and Apple signs later ones.
    static let forever = Date(timeIntervalSinceReferenceDate: .infinity)
}
