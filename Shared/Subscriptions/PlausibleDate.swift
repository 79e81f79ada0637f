import struct Foundation.Date

extension Date {
    /// Whether it lies in the years 2000 to 2199. What does not is kept and believed, but orders nothing.
    var isPlausible: Bool { Self.plausible.contains(self) }

    private static let plausible =
        Date(timeIntervalSince1970: 946_684_800)..<Date(timeIntervalSince1970: 7_258_118_400)

    /// Without what is shorter than a millisecond: Apple signs one and the same moment with and without a fraction.
    ///
    /// Microseconds are rounded first, since a whole millisecond may lie a trifle below itself in binary.
    var wholeMilliseconds: Date {
        let whole = ((timeIntervalSince1970 * 1_000_000).rounded() / 1000).rounded(.down) / 1000
        // The same bits for what is whole already, so that it compares like what it came from.
        return timeIntervalSince1970 - whole < 0.000_000_5 ? self : Date(timeIntervalSince1970: whole)
    }
}
