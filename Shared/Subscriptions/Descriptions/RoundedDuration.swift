import struct Foundation.Date
import struct Foundation.TimeInterval

/// A length of time as an operator says it: one unit, rounded down.
struct RoundedDuration {
    private let seconds: TimeInterval

    init(from start: Date, to end: Date) { seconds = end.timeIntervalSince(start) }

    var isNegative: Bool { seconds < 0 }

    /// Without a sign; `less than a minute` at the least.
    var words: String {
        let length = abs(seconds)
        // Beyond the age of calendars a number says nothing, and it might not fit.
        guard length < 1e11 else { return "thousands of years" }
        if length >= 86_400 { return Self.counted(Int(length / 86_400), "day") }
        if length >= 3600 { return Self.counted(Int(length / 3600), "hour") }
        if length >= 60 { return Self.counted(Int(length / 60), "minute") }
        return "less than a minute"
    }

    private static func counted(_ number: Int, _ unit: String) -> String {
        "\(number) \(unit)\(number == 1 ? "" : "s")"
    }
}
