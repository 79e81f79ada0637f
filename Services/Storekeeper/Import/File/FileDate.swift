import Foundation

/// Moments as exports write them: `2026-01-31 12:00:00.25`, `2026-01-31T12:00:00Z`, `2026-01-31T13:00:00+01:00`, `2026-01-31`, and
/// `2026-01-31 13:00:00 +0100` as Ruby writes them; in UTC where no other zone is named. Without the parsers of Foundation, which take longer
/// than everything else of a record. Pure.
enum FileDate {
    /// The moment that a text names; nil where it is no such moment, or names no day of the calendar.
    static func date(_ text: String) -> Date? {
        var reader = Reader(rest: Array(text.utf8)[...])
        guard let year = reader.number(digits: 4), reader.take("-"), let month = reader.number(digits: 2),
            reader.take("-"),
            let day = reader.number(digits: 2), (1...12).contains(month), (1...days(in: month, of: year)).contains(day)
        else { return nil }
        var seconds = Double(daysSince1970(year, month, day)) * 86_400
        guard !reader.rest.isEmpty else { return Date(timeIntervalSince1970: seconds) }
        guard reader.take("T") || reader.take(" "), let hour = reader.number(digits: 2), reader.take(":"),
            let minute = reader.number(digits: 2), hour < 24, minute < 60
        else { return nil }
        seconds += Double(hour * 3600 + minute * 60)
        if reader.take(":") {
            guard let second = reader.number(digits: 2), second < 60 else { return nil }
            seconds += Double(second)
            if reader.take(".") {
                guard let fraction = reader.fraction() else { return nil }
                seconds += fraction
            }
        }
        guard let offset = reader.offset() else { return nil }
        return Date(timeIntervalSince1970: seconds - Double(offset))
    }

    private static func days(in month: Int, of year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// Days of the Gregorian calendar. Years begin in March, so that the day that leap years add is their last.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let century = year / 400
        let yearOfCentury = year - century * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfCentury = yearOfCentury * 365 + yearOfCentury / 4 - yearOfCentury / 100 + dayOfYear
        return century * 146_097 + dayOfCentury - 719_468
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest = rest.dropFirst()
            return true
        }

        mutating func number(digits: Int) -> Int? {
            let text = rest.prefix(digits)
            guard text.count == digits, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            rest = rest.dropFirst(digits)
            return text.reduce(0) { $0 * 10 + Int($1) - 0x30 }
        }

        mutating func fraction() -> Double? {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            guard (1...9).contains(digits.count) else { return nil }
            rest = rest.dropFirst(digits.count)
            return digits.reversed().reduce(0.0) { ($0 + Double($1 - 0x30)) / 10 }
        }

        /// Seconds east of Greenwich; nil where the rest is no zone.
        mutating func offset() -> Int? {
            if rest.isEmpty || rest.elementsEqual("Z".utf8) || rest.elementsEqual(" UTC".utf8) { return 0 }
            _ = take(" ")
            let sign = take("+") ? 1 : take("-") ? -1 : 0
            guard sign != 0, let hours = number(digits: 2), hours < 24 else { return nil }
            guard !rest.isEmpty else { return sign * hours * 3600 }
            _ = take(":")
            guard let minutes = number(digits: 2), minutes < 60, rest.isEmpty else { return nil }
            return sign * (hours * 3600 + minutes * 60)
        }
    }
}
