import Contracts
import ServerAPI
import Storage

import struct Foundation.Date
import struct Foundation.UUID

/// A page of Apple's history as messages for Kafka.
struct PageMessages {
    /// Well below the record limit of 1 MB, as JSON adds overhead.
    static let limit = 700_000
    /// Overhead of a notification beside its payload.
    private static let rest = 1024

    let messages: [HistoryPage]
    /// First delivery attempt of the last notification; within the request, because a restart may begin there.
    let reachedAt: Date?

    /// - Parameter claim: its `page` is the number of this page.
    init(_ items: [NotificationHistoryItem], of claim: WindowClaim, fetchedAt: Date, limit: Int = limit) {
        var divided: [[HistoryPage.Item]] = []
        var size = Int.max
        for item in items {
            let item = HistoryPage.Item(item, limit: limit)
            let length = item.signedPayload.count + Self.rest
            if size > limit - length {
                divided.append([])
                size = 0
            }
            divided[divided.count - 1].append(item)
            size += length
        }
        messages = divided.enumerated().map { part, items in
            HistoryPage(
                window: claim.id, environment: claim.scope.environment, bundleId: claim.scope.bundleId,
                page: claim.page, part: Int64(part), items: items, fetchedAt: fetchedAt)
        }
        reachedAt = items.last?.sendAttempts.compactMap(\.attemptDate).min()
            .map { min(max($0, claim.start), claim.scope.to) }
    }
}

extension HistoryPage.Item {
    /// Omits a payload that exceeds the record limit, fifty times Apple's usual size; recovery lists it as unreadable.
    fileprivate init(_ item: NotificationHistoryItem, limit: Int) {
        let payload = item.signedPayload ?? []
        self.init(
            signedPayload: payload.count < limit ? payload : [],
            sendAttempts: item.sendAttempts.compactMap { attempt in
                guard let date = attempt.attemptDate, let result = attempt.sendAttemptResult else { return nil }
                return HistoryPage.SendAttempt(attemptedAt: date, result: result.rawValue)
            })
    }
}
