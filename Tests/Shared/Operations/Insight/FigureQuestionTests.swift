import Foundation
import Storage
import Testing

@testable import Operations

/// Questions about figures are answered, or refused with what may be asked.
@Suite struct FigureQuestionTests {
    private static let now = Date(timeIntervalSince1970: 1_795_000_000)

    /// The limit that the refusal of a question about fifteen years names.
    private static func limit(_ ask: () throws -> Void) throws -> String {
        let error = try #require(#expect(throws: OperationError.self) { try ask() })
        return "\(error)".replacing(#/^\d+ days are too many: /#, with: "")
    }

    @Test func `FigureQuestion names the limit of what was asked, and ListCorrections has no months to ask by`() throws
    {
        func question(_ interval: FigureReport.Interval) throws -> String {
            try Self.limit {
                _ = try FigureQuestion(
                    .mrr, in: .production, of: nil, from: "2010-01-01", to: "2025-01-01", interval: interval,
                    at: Self.now)
            }
        }
        #expect(try question(.day) == "ask for at most 400 days, or 120 months by month")
        #expect(try question(.month) == "ask for at most 120 months")
        let corrections = try Self.limit {
            _ = try ListCorrections(
                in: .production, of: nil, from: "2010-01-01", to: "2025-01-01", limit: 1, at: Self.now)
        }
        #expect(corrections == "ask for at most 120 months")
    }
}
