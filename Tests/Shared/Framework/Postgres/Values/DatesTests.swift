import Foundation
import Postgres
import TestSupport
import Testing

@Suite struct DatesTests {
    static let echo = Statement(
        "test-echo-date", "select $1::timestamptz as date, extract(year from $1)::integer as year")

    @Test(arguments: [
        (-62_135_596_800.0, Int32(1)), (253_402_300_799.999, 9999), (0, 1970), (1_700_000_000.123, 2023),
        (-1.5, 1969), (946_684_800, 2000),
    ])
    func `Years 1 to 9999 come back to the millisecond`(seconds: Double, year: Int32) async throws {
        try await TestDatabase.use(isMigrated: false) { database async throws in
            let date = Date(timeIntervalSince1970: seconds)
            var utc = database
            utc.url += "?options=-c%20timezone%3DUTC"
            let row = try await TestDatabase.connection(utc).execute(Self.echo, date)[0]
            #expect(try row.value("date") == date)
            #expect(try row.value("year") == year)
        }
    }

    @Test func `Date of any millisecond compares equal after storing and reading`() throws {
        for _ in 0..<10_000 {
            let milliseconds = Int64.random(in: -62_135_596_800_000...253_402_300_799_999)
            let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            #expect(try date.atPostgresPrecision() == date)
        }
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan, 1e13, -3e11])
    func `Date beyond the calendar is rejected`(seconds: Double) {
        let error = #expect(throws: PostgresError.self) {
            try Date(timeIntervalSince1970: seconds).atPostgresPrecision()
        }
        #expect(error?.meaning == .rejectedValue)
    }
}
