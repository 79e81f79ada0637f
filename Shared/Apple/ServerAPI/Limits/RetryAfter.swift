import struct Foundation.Date

/// Apple's `Retry-After`: a moment in milliseconds since 1970, where others write seconds from now.
enum RetryAfter {
    /// In seconds this would be the year 5138, and as a delay three thousand years.
    private static let firstMilliseconds = 1e11
    /// As a delay more than thirty years, so it is meant as a moment in seconds.
    private static let firstSeconds = 1e9

    /// How long to wait; never negative. Nil where the header is missing or not a number.
    ///
    /// - Parameter now: The time by the server's clock, as far as it is known.
    static func pause(_ header: String?, now: Date) -> Duration? {
        guard let header, let number = Double(header), number.isFinite, number >= 0 else { return nil }
        let seconds: Double
        if number >= firstMilliseconds {
            seconds = number / 1000 - now.timeIntervalSince1970
        } else if number >= firstSeconds {
            seconds = number - now.timeIntervalSince1970
        } else {
            seconds = number
        }
        // A day is beyond every deadline, and what is absurd must not overflow.
        return .seconds(min(max(0, seconds), 86_400))
    }
}
