import Foundation

extension Date {
    /// UTC, to the second.
    package var text: String { formatted(Date.ISO8601FormatStyle()) }

    /// The day in UTC.
    package var day: String { formatted(Date.ISO8601FormatStyle().year().month().day()) }
}
