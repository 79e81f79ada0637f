import struct Foundation.Date

/// The value of one unit of a currency on a day, in a reporting currency.
package struct ExchangeRate: Sendable, Equatable {
    /// The first moment of the day, in UTC.
    package var day: Date
    /// ISO 4217 code.
    package var currency: String
    /// Trillionths of a unit of the reporting currency, at least 1.
    package var trillionths: Int64

    /// - Parameters:
    ///   - day: its first moment, in UTC.
    ///   - trillionths: of a unit of the reporting currency, at least 1.
    package init(day: Date, currency: String, trillionths: Int64) {
        self.day = day
        self.currency = currency
        self.trillionths = trillionths
    }

    /// Trillionths of one.
    package static let whole: Int64 = 1_000_000_000_000

    /// An amount in the reporting currency, rounded half away from zero, as Postgres rounds. Thousandths of a unit of currency.
    /// - Returns: nil where it is more than an amount can be.
    static func converted(_ amount: Int64, by trillionths: Int64) -> Int64? {
        let (high, low) = amount.magnitude.multipliedFullWidth(by: trillionths.magnitude)
        let divisor = whole.magnitude
        guard high < divisor else { return nil }
        let (quotient, remainder) = divisor.dividingFullWidth((high, low))
        guard let converted = Int64(exactly: quotient), converted < .max else { return nil }
        let rounded = converted + (remainder >= divisor / 2 ? 1 : 0)
        return amount < 0 ? -rounded : rounded
    }
}
