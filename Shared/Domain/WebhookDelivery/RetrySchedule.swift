/// When a delivery that failed is attempted again: over 75.6 hours, longer apart each time.
package enum RetrySchedule {
    /// Seconds after the first failed attempt, the second, and so on.
    package static let delays: [Double] = [
        5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600,
    ]

    /// Seconds to the next attempt, up to a tenth more or less, so that what failed together does not return together.
    /// - Parameter attempts: that failed, from 1.
    /// - Returns: nil where the delivery is given up.
    package static func delay(after attempts: Int, using generator: inout some RandomNumberGenerator) -> Double? {
        guard delays.indices.contains(attempts - 1) else { return nil }
        return delays[attempts - 1] * Double.random(in: 0.9...1.1, using: &generator)
    }
}
