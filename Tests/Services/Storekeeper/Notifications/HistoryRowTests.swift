import Foundation
import ServerAPI
import Testing

@testable import Storekeeper

/// A row of `storekeeper notifications history`.
struct HistoryRowTests {
    private static func row(_ results: [SendAttemptResult], isRecorded: Bool?) -> HistoryRow {
        var item = NotificationHistoryItem()
        item.sendAttempts = results.enumerated().map { place, result in
            var attempt = SendAttempt()
            attempt.attemptDate = Date(timeIntervalSince1970: Double(place))
            attempt.sendAttemptResult = result
            return attempt
        }
        var row = HistoryRow(item)
        row.isRecorded = isRecorded
        return row
    }

    @Test(
        arguments: [
            ([], nil, "-"), ([.success], true, "-"), ([], false, "-"),
            ([.success, .timedOut], false, "ingest answered too late"),
            ([.tlsIssue, .timedOut, .success], true, "TIMED_OUT before: ingest answered too late"),
            ([.success], false, "Apple received 200: storekeeper dead-letters list"),
        ] as [([SendAttemptResult], Bool?, String)])
    func `Failed attempt has what to check, also after one that succeeded`(
        results: [SendAttemptResult], isRecorded: Bool?, check: String
    ) {
        let cells = Self.row(results, isRecorded: isRecorded).cells
        #expect(cells.last?.hasPrefix(check) == true, "\(cells)")
    }
}
