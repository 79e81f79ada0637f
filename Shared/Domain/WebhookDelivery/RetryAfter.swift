import struct Foundation.Date

/// The header Retry-After: a number of seconds, or a date as HTTP writes it.
package enum RetryAfter {
    /// Seconds from now; nil where the header is neither.
    package static func seconds(_ header: String, now: Date) -> Double? {
        let text = header.drop { $0 == " " }
        if let seconds = UInt32(text) { return Double(seconds) }
        guard let date = date(header) else { return nil }
        return max(0, date.timeIntervalSince(now))
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// `Sun, 06 Nov 1994 08:49:37 GMT`, the only form that a sender may use.
    private static func date(_ text: String) -> Date? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let day = Int(parts[1]), let year = Int(parts[3]),
            let month = months.firstIndex(of: String(parts[2])), 1...31 ~= day, 1970...9999 ~= year
        else { return nil }
        let clock = parts[4].split(separator: ":").compactMap { Int($0) }
        guard clock.count == 3, 0...23 ~= clock[0], 0...59 ~= clock[1], 0...60 ~= clock[2] else { return nil }
        // Days since 1970 of the Gregorian calendar, by years that begin in March.
        let shifted = month < 2 ? year - 1 : year
        let monthOfYear = (month + 10) % 12
        let dayOfYear = (153 * monthOfYear + 2) / 5 + day - 1
        let days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
        return Date(timeIntervalSince1970: Double(days * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]))
    }
}
