import struct Foundation.Date
import struct Foundation.TimeInterval

/// A duration in words: one unit, rounded down.
struct RoundedDuration {
    private let seconds: TimeInterval

    init(from start: Date, to end: Date) { seconds = end.timeIntervalSince(start) }

    var isNegative: Bool { seconds < 0 }

    /// The duration without its sign, such as `3 days`; `less than a minute` for the shortest.
    var words: String {
        let length = abs(seconds)
        // A greater number might not fit into an integer.
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
