import Contracts

import struct Foundation.Date

/// How far back Apple's notification history reaches.
enum HistoryRetention {
    static let day = 86_400.0

    /// 180 days; in sandbox 30.
    static func days(of environment: StoreEnvironment) -> Double { environment == .production ? 180 : 30 }

    /// The earliest time to request: an hour inside Apple's limit, because a request may wait and clocks differ.
    static func earliest(_ environment: StoreEnvironment, now: Date) -> Date {
        now.addingTimeInterval(3600 - days(of: environment) * day)
    }

    /// What to do about earlier times.
    static func advice(_ environment: StoreEnvironment) -> String {
        "Apple lists notifications of the last \(Int(days(of: environment))) days only; import the customers' purchase "
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
