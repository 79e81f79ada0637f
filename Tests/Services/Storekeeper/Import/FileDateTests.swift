import Foundation
import Testing

@testable import Storekeeper

struct FileDateTests {
    @Test(arguments: [
        ("1970-01-01", 0.0), ("2000-02-29", 951_782_400.0), ("2026-12-31 12:00:00", 1_798_718_400.0),
        ("2026-12-31T12:00:00Z", 1_798_718_400.0), ("2026-12-31 12:00:00 UTC", 1_798_718_400.0),
        ("2026-12-31T13:00:00+01:00", 1_798_718_400.0), ("2026-12-31T07:00:00-0500", 1_798_718_400.0),
        ("2026-12-31 12:00:00+00", 1_798_718_400.0), ("2026-12-31 12:00", 1_798_718_400.0),
        ("2026-12-31 13:00:00 +0100", 1_798_718_400.0), ("2226-01-01 00:00:00", 8_078_572_800.0),
    ])
    func `Moments are read as exports write them`(text: String, seconds: Double) {
        #expect(FileDate.date(text) == Date(timeIntervalSince1970: seconds))
    }

    @Test func `Every day is that of the calendar, and fractions count`() throws {
        for day in stride(from: -40_000, to: 90_000, by: 7) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400)
            #expect(FileDate.date(date.formatted(Date.ISO8601FormatStyle())) == date)
        }
        let fraction = try #require(FileDate.date("2026-12-31 12:00:00.250000"))
        #expect(fraction.timeIntervalSince1970 == 1_798_718_400.25)
    }

    @Test(arguments: [
        "", "2026", "2026-13-01", "2026-02-29", "2026-04-31", "2026-01-00", "2026-01-01 24:00:00",
        "2026-01-01 12:60:00",
        "2026-01-01 12:00:61", "2026-01-01 12:00:00.", "2026-01-01 12:00:00 CET", "2026-01-01 12:00:00+25",
        "2026-01-01 12:00:00 ", "2026-01-01 12:00:00 0100",
        "01/02/2026",
    ])
    func `What is no moment is none`(text: String) { #expect(FileDate.date(text) == nil) }
}
