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

    @Test func `ListFigurePurchases names the kinds of the report where another is asked for`() throws {
        func list(_ report: FigureReport.Name, _ kinds: String?) throws {
            _ = try ListFigurePurchases(
                behind: report, in: .production, of: nil, kinds: kinds, limit: 1, at: Self.now)
        }
        for (report, kinds) in [(FigureReport.Name.revenue, "refund"), (.proceeds, "charge,loyalCharge"), (.mrr, nil)] {
            try list(report, kinds)
        }
        let error = try #require(#expect(throws: OperationError.self) { try list(.trials, "trialPaid,refund") })
        #expect("\(error)" == "“refund” is no kind of trials: give trialRunning, trialEnded, trialPaid")
    }

    @Test func `The position of a purchase is read from its text`() throws {
        let day = try Date.ISO8601FormatStyle().year().month().day().parse("2026-01-31")
        for id in ["2000000123456789", "odd/id", ""] {
            let position = PurchasePart.Position(day: day, originalTransactionId: id, place: 12)
            #expect(position.text == "2026-01-31/\(id)/12" && PurchasePart.Position(position.text) == position)
        }
        for text in ["", "2026-01-31", "2026-01-31/1", "2026-02-30/1/1", "2026-01-31/1/x"] {
            #expect(PurchasePart.Position(text) == nil, "\(text)")
        }
    }
}
