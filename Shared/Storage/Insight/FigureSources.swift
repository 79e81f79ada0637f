import Foundation

/// The days and months from which a report is added up: months where they are whole, and days where a row begins or ends within one.
struct FigureSources: Equatable {
    /// Days before the months.
    var head: Range<Date>
    /// First days of months.
    var months: Range<Date>
    /// One of the months, of which the days in `head` are read instead.
    var cutMonth: Date?
    /// Days after the months.
    var tail: Range<Date>

    init(_ query: FigureReport.Query) {
        let (from, to) = (query.days.lowerBound, query.days.upperBound)
        let month = FigureReport.Interval.month
        let firstMonth = month.start(of: from)
        // What was added up before the first row is months too, and the days of the month in which that row begins.
        let first = query.name.isLevel ? firstMonth : from
        cutMonth = firstMonth == from ? nil : firstMonth
        guard query.interval == .month else {
            head = first..<to
            months = (query.name.isLevel ? .distantPast : firstMonth)..<firstMonth
            tail = to..<to
            return
        }
        let firstWhole = cutMonth == nil ? from : month.end(of: from)
        let end = max(month.start(of: to), firstWhole)
        head = first..<min(firstWhole, to)
        months = (query.name.isLevel ? .distantPast : firstWhole)..<end
        tail = min(end, to)..<to
    }
}
