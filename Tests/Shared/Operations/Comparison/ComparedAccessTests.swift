import Foundation
import Testing

@testable import Operations

struct ComparedAccessTests {
    private static func at(_ hours: Double) -> Date { Date(timeIntervalSince1970: 1_790_000_000 + hours * 3600) }
    private static let moment = at(0)

    /// The access of spans from and to so many hours; nil: without an end.
    private static func access(_ spans: (Double, Double?)...) -> ComparedAccess<Int>? {
        ComparedAccess(
            at: moment,
            spans.enumerated().map { index, span in
                ComparedSpan(startsAt: at(span.0), endsAt: span.1.map(at), source: index)
            })
    }

    @Test func `Periods that follow each other are one access, and a gap ends it`() throws {
        let following = try #require(Self.access((-2, 1), (1, 3), (3.0002, 5), (7, 9)))
        #expect(following.until == Self.at(5) && following.now.source == 0 && following.last.source == 2)
        #expect(following.ends == [Self.at(1), Self.at(3), Self.at(5)])
        #expect(Self.access((-2, 0)) == nil && Self.access((1, 2)) == nil && Self.access() == nil)
        let endless = try #require(Self.access((-2, 1), (0.5, nil)))
        #expect(endless.until == nil && endless.now.source == 0)
    }

    @Test func `Both sides are the same where the end of one is an end of a period of the other`() {
        let renewed = Self.access((-2, 1), (1, 3))
        #expect(isSame(Self.access((-2, 1)), renewed) && isSame(renewed, Self.access((-2, 1))))
        #expect(isSame(Self.access((-2, 1.0002)), renewed), "exports have whole seconds")
        #expect(!isSame(Self.access((-2, 2)), renewed) && !isSame(Self.access((-2, nil)), renewed))
        #expect(!isSame(renewed, nil as ComparedAccess<Int>?) && !isSame(nil as ComparedAccess<Int>?, renewed))
        #expect(isSame(Self.access((-2, nil)), Self.access((-1, nil))))
        #expect(!isSame(Self.access((-2, 3.05)), renewed) && isSame(Self.access((-2, 3.05)), renewed, within: 300))
    }

    @Test func `Of records with one identity the newest counts, and of one time the last`() {
        func record(_ line: Int, _ identity: String, version: Double?) -> IncumbentRecord {
            var record = IncumbentRecord(line: line, store: .appStore)
            record.identity = identity
            record.version = version.map(Self.at)
            return record
        }
        let customer = IncumbentCustomer(
            id: "a",
            records: [
                record(1, "x", version: 2), record(2, "x", version: 1), record(3, "x", version: 2),
                record(4, "", version: nil),
                record(5, "", version: nil), record(6, "y", version: nil), record(7, "y", version: nil),
            ])
        #expect(customer.current.map(\.line) == [3, 4, 5, 7])
    }
}
