import Contracts

import struct Foundation.Date

/// How far back Apple's notification history reaches.
enum Horizon {
    static let day = 86_400.0

    /// 180 days; in sandbox 30.
    static func days(of environment: StoreEnvironment) -> Double { environment == .production ? 180 : 30 }

    /// The earliest time to ask for: an hour inside Apple's limit, because a query may wait and clocks differ.
    static func earliest(_ environment: StoreEnvironment, now: Date) -> Date {
        now.addingTimeInterval(3600 - days(of: environment) * day)
    }

    /// For what lies beyond.
    static func advice(_ environment: StoreEnvironment) -> String {
        "Apple lists notifications of the last \(Int(days(of: environment))) days only; fetch the transaction histories of "
            + "the customers instead (storekeeper backfill)"
    }
}

extension Date {
    /// The first moment of its day, UTC.
    var startOfDay: Date {
        Date(timeIntervalSince1970: (timeIntervalSince1970 / Horizon.day).rounded(.down) * Horizon.day)
    }
}
