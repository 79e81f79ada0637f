import AppStore
import Contracts
import Foundation
import StrictJSON

/// A request for notification history, by Apple's rules.
struct NotificationHistoryQuestion: Sendable {
    private static let day = 86_400.0

    var start: Date
    var end: Date
    var kind: NotificationKind?
    var transactionId: String?
    var onlyFailures: Bool
    /// Equal for equal bodies.
    var fingerprint: UInt64

    /// - Throws: ``APIFault``.
    init(_ json: JSONValue, of app: App, now: Date) throws {
        start = try Self.date(json["startDate"], or: 4_000_015)
        end = try Self.date(json["endDate"], or: 4_000_016)
        guard start < end else { throw APIFault(4_000_013) }
        let days = app.environment == .production ? 180.0 : 30.0
        guard start >= now.addingTimeInterval(-days * Self.day) else { throw APIFault(4_000_012) }
        let type = try Self.text(json["notificationType"], or: 4_000_018)
        let subtype = try Self.text(json["notificationSubtype"], or: 4_000_018)
        transactionId = try Self.text(json["transactionId"], or: 4_000_006)
        guard type == nil || transactionId == nil else { throw APIFault(4_000_019) }
        if let type {
            let kind = NotificationKind(
                NotificationType(rawValue: type), subtype.map { NotificationSubtype(rawValue: $0) })
            guard kind.isApples else { throw APIFault(4_000_018) }
            self.kind = kind
        } else if subtype != nil {
            throw APIFault(4_000_018)
        }
        if let transactionId, !APICall.isTransactionId(transactionId) { throw APIFault(4_000_006) }
        switch json["onlyFailures"] {
        case nil: onlyFailures = false
        case let value? where value.isNull: onlyFailures = false
        case let value?:
            guard let bool = value.bool else { throw APIFault(4_000_000) }
            onlyFailures = bool
        }
        fingerprint = PageToken.question([
            app.bundleId, app.environment.rawValue, "\(start.milliseconds)", "\(end.milliseconds)", type, subtype,
            transactionId, "\(onlyFailures)",
        ])
    }

    /// Whether a notification matches, apart from its time. A type alone matches those without a subtype.
    func matches(_ notification: SentNotification) -> Bool {
        if let kind, notification.kind != kind { return false }
        return !onlyFailures || notification.isFailing
    }

    private static func date(_ value: JSONValue?, or code: Int64) throws -> Date {
        guard let milliseconds = value?.int64, milliseconds >= 0 else { throw APIFault(code) }
        return Date(milliseconds: milliseconds)
    }

    private static func text(_ value: JSONValue?, or code: Int64) throws -> String? {
        guard let value, !value.isNull else { return nil }
        guard let text = value.string, !text.isEmpty else { throw APIFault(code) }
        return text
    }
}

extension NotificationKind {
    private static let subtypes: [NotificationType: Set<NotificationSubtype>] = [
        .subscribed: [.initialBuy, .resubscribe],
        .didChangeRenewalPref: [.upgrade, .downgrade],
        .didChangeRenewalStatus: [.autoRenewEnabled, .autoRenewDisabled],
        .offerRedeemed: [.initialBuy, .resubscribe, .upgrade, .downgrade],
        .didRenew: [.billingRecovery],
        .expired: [.voluntary, .billingRetry, .priceIncrease, .productNotForSale],
        .didFailToRenew: [.gracePeriod],
        .priceIncrease: [.pending, .accepted],
        .renewalExtension: [.summary, .failure],
        .externalPurchaseToken: [.unreported, .created, .activeTokenReminder],
    ]

    /// Whether Apple has this type, and this subtype of it. Every type may be requested without one.
    var isApples: Bool {
        guard let subtype else { return type.isKnown }
        return Self.subtypes[type]?.contains(subtype) ?? false
    }
}
