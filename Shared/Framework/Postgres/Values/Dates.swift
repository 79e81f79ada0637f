import struct Foundation.Date

extension Date: PostgresValue, PostgresElement {
    /// The type the server calls it.
    public static var postgresType: PostgresType { .timestamp }
    /// The type the server calls an array of it.
    public static var postgresArrayType: PostgresType { .timestampArray }

    /// Microseconds since 2000, rounded.
    public func write(into bytes: inout [UInt8]) throws(PostgresError) -> Bool {
        bytes.appendBigEndian(try microsecondsSince2000())
        return true
    }

    /// A date of whole milliseconds comes back as the very value that `Date(timeIntervalSince1970: ms / 1000)` makes,
    /// so that dates compare equal after a journey through the database.
    public init?(postgres bytes: ArraySlice<UInt8>) {
        guard let microseconds: Int64 = bytes.bigEndian() else { return nil }
        self.init(microsecondsSince2000: microseconds)
    }

    /// This date as the database will give it back. Compare dates of both origins by it.
    public func atPostgresPrecision() throws(PostgresError) -> Date {
        Date(microsecondsSince2000: try microsecondsSince2000())
    }

    private func microsecondsSince2000() throws(PostgresError) -> Int64 {
        // 4713 BC to 294276 AD, and never the two extremes, which mean -infinity and infinity.
        let seconds = timeIntervalSince1970 - epochOffset
        guard seconds > -210_866_803_200, seconds < 9_224_318_016_000 else {
            throw PostgresError(.rejectedValue, "a date outside the years -4712 to 294276 cannot be stored")
        }
        // Far from now a Double cannot tell microseconds any more, but it can tell that it was made of milliseconds.
        let milliseconds = (timeIntervalSince1970 * 1000).rounded()
        if Date(timeIntervalSince1970: milliseconds / 1000) == self {
            return (Int64(milliseconds) - Int64(epochOffset) * 1000) * 1000
        }
        let whole = seconds.rounded(.down)
        return Int64(whole) * 1_000_000 + Int64(((seconds - whole) * 1_000_000).rounded())
    }

    private init(microsecondsSince2000 microseconds: Int64) {
        guard microseconds % 1000 == 0 else {
            self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000 + epochOffset)
            return
        }
        self.init(timeIntervalSince1970: Double(microseconds / 1000 + Int64(epochOffset) * 1000) / 1000)
    }
}

/// Seconds from 1970 to 2000, where the server's calendar begins.
private let epochOffset: Double = 946_684_800
