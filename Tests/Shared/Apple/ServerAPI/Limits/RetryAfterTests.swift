import Foundation
import Testing

@testable import ServerAPI

@Suite struct RetryAfterTests {
    @Test(arguments: [
        ("1780000007500", 7.5),  // Apple's way: milliseconds since 1970
        ("1780000007", 7.0),  // the same in seconds
        ("3", 3.0),  // seconds from now, as others write
        ("0", 0.0),
        ("1779999999000", 0.0),  // over already
        ("9223372036854775807", 86_400.0),
        ("1e300", 86_400.0),
        ("500000000", 86_400.0),
    ])
    func `RetryAfter is a moment in milliseconds, and other servers' forms are understood`(
        header: String, seconds: Double
    ) {
        #expect(RetryAfter.pause(header, now: APIFixture.start) == .seconds(seconds))
    }

    @Test(arguments: [nil, "", "soon", "-5", "nan", "inf", "Sun, 06 Nov 1994 08:49:37 GMT"])
    func `RetryAfter of any other form is no time`(header: String?) {
        #expect(RetryAfter.pause(header, now: APIFixture.start) == nil)
    }
}

@Suite struct HTTPDateTests {
    @Test func `HTTP date is read`() {
        #expect(HTTPDate.date("Sun, 06 Nov 1994 08:49:37 GMT") == Date(timeIntervalSince1970: 784_111_777))
        #expect(HTTPDate.date("Sat, 29 Feb 2020 00:00:00 GMT") == Date(timeIntervalSince1970: 1_582_934_400))
    }

    @Test(arguments: [
        nil, "", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nev 1994 08:49:37 GMT",
        "Sun, x Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 9223372036854775807 08:49:37 GMT", "Sun, 06 Nov 1994 9223372036854775807:49:37 GMT",
        "Sun, -9223372036854775808 Nov 1994 08:49:37 GMT", "1780000000000",
    ])
    func `HTTP date of any other form is no date`(text: String?) { #expect(HTTPDate.date(text) == nil) }
}
