import struct Foundation.Date

extension Date {
    /// A date as Apple writes it: milliseconds since 1970, or microseconds where those would be after the year 9999.
    package init(appleNumber number: Double) {
        self.init(timeIntervalSince1970: number >= 253_402_300_800_000 ? number / 1_000_000 : number / 1000)
    }

    /// Whether the date is in the years 2000 to 2199. Other dates are stored and used, but do not order purchases.
    var isPlausible: Bool { Self.plausible.contains(self) }

    private static let plausible =
        Date(timeIntervalSince1970: 946_684_800)..<Date(timeIntervalSince1970: 7_258_118_400)

    /// The date rounded down to milliseconds: Apple signs the same moment with and without a fraction.
    ///
    /// Microseconds are rounded first, since a whole millisecond may be slightly below itself as a binary fraction.
    var wholeMilliseconds: Date {
        let whole = ((timeIntervalSince1970 * 1_000_000).rounded() / 1000).rounded(.down) / 1000
        // A date that is whole already keeps its bits, so that it equals the date it came from.
        return timeIntervalSince1970 - whole < 0.000_000_5 ? self : Date(timeIntervalSince1970: whole)
    }
}
