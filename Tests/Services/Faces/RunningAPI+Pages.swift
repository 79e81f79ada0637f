import Storage
import StrictJSON
import Testing

@testable import APITests

extension RunningAPI {
    /// Reads a list of rows with an amount, two rows a page, and expects of each page what all lists have.
    /// - Parameter check: of each row, beside its day, purchase, amount and currency.
    /// - Returns: each row as `2025-01-15 2000000000000005 50.001 EUR`, and the number of pages.
    func pages(
        of path: String, key: String, check: (JSONValue) -> Void
    ) async throws -> (found: [String], pages: Int) {
        var (found, next, pages): ([String], String?, Int) = ([], nil, 0)
        repeat {
            let answer = try await get(path + "&limit=2" + (next.map { "&cursor=\($0)" } ?? ""), key: key)
            #expect(answer.status == 200)
            for row in answer.json?["data"]?.elements ?? [] {
                let amount = FigureReport.Value.amount(row["amount"]?.int64 ?? 0).text
                let texts = ["day", "originalTransactionId", "currency"].map { row[$0]?.string ?? "" }
                found.append("\(texts[0]) \(texts[1]) \(amount) \(texts[2])")
                check(row)
            }
            next = answer.json?["nextCursor"]?.string
            #expect((answer.headers["link"] != nil) == (next != nil))
            pages += 1
        } while next != nil && pages < 9
        return (found, pages)
    }
}
