import Foundation
import Subscriptions
import Testing

@Suite struct ProductDurationTests {
    @Test(arguments: [
        ("PT12H", "2026-01-31T10:00:00Z", "2026-01-31T22:00:00Z"),
        ("P30D", "2026-01-31T10:00:00Z", "2026-03-02T10:00:00Z"),
        ("P2W", "2026-01-31T10:00:00Z", "2026-02-14T10:00:00Z"),
        ("P1M", "2026-01-31T10:00:00Z", "2026-02-28T10:00:00Z"),
        ("P3M", "2026-01-31T10:00:00Z", "2026-04-30T10:00:00Z"),
        ("P1Y", "2024-02-29T10:00:00Z", "2025-02-28T10:00:00Z"),
    ])
    func `A duration ends by the calendar in UTC, and its description is its text`(
        text: String, start: String, end: String
    ) throws {
        let duration = try #require(ProductDuration(text))
        #expect(duration.end(from: try Date(start, strategy: .iso8601)) == (try Date(end, strategy: .iso8601)))
        #expect(duration.description == text)
    }

    @Test(arguments: [
        "", "P", "30", "30D", "P0D", "P-1D", "P1.5M", "P1M2D", "PT1M", "P12H", "p1m", "P101Y", "P99999999999999999999D",
        "P1M ",
        "P١D",
    ])
    func `A text that is no duration of one unit, or longer than a hundred years, is rejected`(text: String) {
        #expect(ProductDuration(text) == nil)
    }
}
