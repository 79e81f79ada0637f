import AppStore

import struct Foundation.Date

/// One attempt of one call, for logs and metrics: nothing in it is secret.
public struct APIAttempt: Sendable, Hashable {
    /// Bundle identifier of the app.
    public let bundleId: String
    /// Sandbox or production.
    public let environment: AppStoreEnvironment
    /// Which call; its raw value is a label.
    public let endpoint: APIEndpoint
    /// 1 for the first.
    public let number: Int
    /// The HTTP status; nil where there was no answer.
    public let status: Int?
    /// What became of it, as a label: `success`, `unauthorized`, `rate-limited`, `transient` or `final`.
    public let result: String
    /// Spent waiting for the limit before it.
    public let waited: Duration
    /// From sending to the last byte.
    public let duration: Duration
    /// Apple's time in the answer, in whole seconds; nil without one.
    public let serverDate: Date?
}
