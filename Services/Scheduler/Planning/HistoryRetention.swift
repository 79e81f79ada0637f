import Contracts

import struct Foundation.Date

/// How far back Apple's notification history reaches.
enum HistoryRetention {
    static let day = 86_400.0

    /// What to do about earlier times.
    static func advice(_ environment: StoreEnvironment) -> String {
        "Apple lists notifications of the last \(Int(environment.historyDays)) days only; import the customers' purchase "
            + "histories instead (storekeeper backfill)"
    }
}

extension Date {
    /// The start of its day, UTC.
    var startOfDay: Date {
        Date(
            timeIntervalSince1970: (timeIntervalSince1970 / HistoryRetention.day).rounded(.down) * HistoryRetention.day)
    }
}
