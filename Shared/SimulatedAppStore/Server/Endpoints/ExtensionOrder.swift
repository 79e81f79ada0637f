import AppStore
import Foundation
import StrictJSON

/// The members that both requests for an extension share.
struct ExtensionOrder: Sendable {
    var days: Int
    var requestIdentifier: String

    /// - Throws: ``APIFault``.
    init(_ json: JSONValue) throws {
        guard let days = json["extendByDays"]?.int64, (1...90).contains(days) else { throw APIFault(4_000_009) }
        guard let reason = json["extendReasonCode"]?.int64, (0...3).contains(reason) else { throw APIFault(4_000_010) }
        guard let identifier = json["requestIdentifier"]?.string, (1...128).contains(identifier.utf8.count) else {
            throw APIFault(4_000_011)
        }
        self.days = Int(days)
        requestIdentifier = identifier
    }

    /// The summary that Apple sends at the end.
    func summary(
        of app: App, productId: String, storefronts: Set<String>?, succeeded: Int, failed: Int
    ) -> NotificationSummary {
        var summary = NotificationSummary()
        summary.environment = AppStoreEnvironment(rawValue: app.environment.rawValue)
        if app.environment == .production { summary.appAppleId = app.appAppleId }
        summary.bundleId = app.bundleId
        summary.productId = productId
        summary.requestIdentifier = requestIdentifier
        summary.storefrontCountryCodes = storefronts?.sorted() ?? []
        summary.succeededCount = Int64(succeeded)
        summary.failedCount = Int64(failed)
        return summary
    }
}

/// An extension of all active subscriptions.
struct MassExtension: Sendable {
    struct Key: Sendable, Hashable {
        var productId: String
        var requestIdentifier: String
    }

    /// The uuid of its summary.
    var summary: String
    var succeeded: Int
    var failed: Int
}

extension AppHistory {
    /// Twice within 365 days.
    func mayExtend(_ originalTransactionId: String, now: Date) -> Bool {
        let year = now.addingTimeInterval(-365 * 86_400)
        return (subscriber(originalTransactionId)?.extensions.count { $0 > year } ?? 0) < 2
    }

    /// Sets the account of purchases from now on.
    mutating func assign(_ appAccountToken: UUID, to originalTransactionId: String) {
        change(originalTransactionId) { $0.newest.customer?.appAccountToken = appAccountToken }
    }
}
