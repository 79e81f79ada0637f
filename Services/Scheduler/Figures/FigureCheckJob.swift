import Chassis
import Contracts
import Storage

import struct Foundation.Date
import struct Foundation.TimeInterval

/// Once a day compares the figures with what was paid: as of the end of yesterday, and of one day of the last year, chosen at random.
struct FigureCheckJob: Sendable {
    let store: FigureStore
    let check: FigureCheck
    let now: @Sendable () -> Date
    /// Before today, at random.
    let daysAgo: @Sendable () -> Int
    let logger: Logger

    private static let day: TimeInterval = 86_400

    func turn() async throws {
        let status = try await store.status()
        let today = Date(timeIntervalSince1970: (now().timeIntervalSince1970 / Self.day).rounded(.down) * Self.day)
        guard let asOf = status.asOf, asOf >= today, status.checkedAt.map({ $0 < today }) ?? true else { return }
        var found = 0
        for end in [today, today.addingTimeInterval(-Double(daysAgo()) * Self.day)] {
            for difference in try await check.differences(before: end) {
                found += 1
                logger.error(
                    "Figures differ from what was paid; storekeeper insight check lists them",
                    metadata: [
                        "app": "\(difference.bundleId)", "environment": "\(difference.environment.rawValue)",
                        "before": "\(end)", "kind": "\(difference.kind)", "paid": "\(difference.scanned)",
                        "movements": "\(difference.moved)",
                        "days": "\(difference.summed)", "months": "\(difference.months)",
                    ])
            }
        }
        try await check.record(differences: found, at: now())
        try await store.tidy()
    }
}
