import Foundation
import Testing

@testable import Storekeeper

struct TimeArgumentTests {
    private static let now = Date(timeIntervalSince1970: 1_760_000_000)

    @Test(arguments: [
        ("2025-10-09T08:53:20Z", 1_760_000_000.0), ("2025-10-09T08:53:20.500Z", 1_760_000_000.5),
        ("2025-10-09T10:53:20+02:00", 1_760_000_000), ("2025-10-09", 1_759_968_000), ("2024-02-29", 1_709_164_800),
        ("90s", 1_759_999_910), ("2h", 1_759_992_800), ("30d", 1_757_408_000),
        ("36525d", -1_395_760_000),
    ])
    func `Moments are read as people write them`(text: String, seconds: Double) {
        #expect(TimeArgument(argument: text)?.date(now: Self.now).timeIntervalSince1970 == seconds)
    }

    @Test(arguments: [
        "", "yesterday", "5", "-5s", "2025-13-01", "2025-11-31", "2025-02-29", "2025-1-31",
        "2025-02-30T00:00:00Z", "2025-01-31T24:00:00Z", "2025-01-31T12:60:00Z", "99999999999999999999d",
        "9223372036854775807d", "9223372036854775807s", "106751991167300d", "36526d",
    ])
    func `Text that is no moment is rejected`(text: String) {
        #expect(TimeArgument(argument: text) == nil)
    }
}
