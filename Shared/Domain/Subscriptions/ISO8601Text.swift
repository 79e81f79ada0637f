import Contracts

import struct Foundation.Date

extension Date {
    /// ISO 8601 in UTC with milliseconds, for the timeline.
    ///
    /// Not by a formatter: the timeline writes several dates for each notification, and payloads hold dates that calendar
    /// formatters do not support. A date outside of the years 1 to 9999 is written as their first or last moment.
    package var iso8601: String {
        let total = min(max(milliseconds, -62_135_596_800_000), 253_402_300_799_999)
        let day = (total - Self.remainder(total, 86_400_000)) / 86_400_000
        let time = Self.remainder(total, 86_400_000)
        let (year, month, dayOfMonth) = Self.civil(day)
        return Self.padded(year, 4) + "-" + Self.padded(month, 2) + "-" + Self.padded(dayOfMonth, 2) + "T"
            + Self.padded(time / 3_600_000, 2) + ":" + Self.padded(time / 60_000 % 60, 2) + ":"
            + Self.padded(time / 1000 % 60, 2) + "." + Self.padded(time % 1000, 3) + "Z"
    }

    /// The day of the Gregorian calendar, counted in eras of 400 years that begin on 1 March.
    private static func civil(_ day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let dayOfEra = remainder(shifted, 146_097)
        let era = (shifted - dayOfEra) / 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func remainder(_ number: Int64, _ divisor: Int64) -> Int64 {
        let remainder = number % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
