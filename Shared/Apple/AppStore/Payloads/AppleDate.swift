import struct Foundation.Date

/// Apple's dates: milliseconds since 1970, sometimes with a fraction.
package enum AppleDate {
    /// The year 10000 in milliseconds, and 1978 in microseconds: a number this large is meant in microseconds, which occur
    /// as well.
    private static let firstMicroseconds = 253_402_300_800_000.0

    package static func date(from number: Double) -> Date {
        Date(timeIntervalSince1970: number >= firstMicroseconds ? number / 1_000_000 : number / 1000)
    }

    /// Whole milliseconds, as the App Store itself writes.
    package static func milliseconds(of date: Date) -> Int64 {
        Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded()) ?? 0
    }
}
