import struct Foundation.Date

/// Where a purchase was made. Part of every stored key: sandbox and production rows never meet.
///
/// Raw values are Apple's spelling of `environment`.
public enum StoreEnvironment: String, Sendable, Hashable, CaseIterable, Codable {
    case production = "Production"
    case sandbox = "Sandbox"
    /// A StoreKit test session in Xcode. Accepted in development mode only.
    case xcode = "Xcode"
    /// StoreKitTest. Accepted in development mode only.
    case localTesting = "LocalTesting"
}

extension StoreEnvironment {
    /// How many days Apple's notification history reaches back.
    ///
    /// [Get Notification History](https://developer.apple.com/documentation/appstoreserverapi/get-notification-history)
    public var historyDays: Double { self == .production ? 180 : 30 }

    /// The earliest time to ask the history for: an hour inside Apple's limit, because a request may wait and clocks
    /// differ.
    public func earliestHistory(at now: Date) -> Date { now.addingTimeInterval(3600 - historyDays * 86_400) }
}
