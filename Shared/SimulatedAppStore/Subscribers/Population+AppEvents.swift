import AppStore
import Contracts

import struct Foundation.Date
import typealias Foundation.TimeInterval
import struct Foundation.UUID

/// Notifications about an app and no purchase.
extension Population {
    /// How far back purchases begin. Within Apple's history (180 and 30 days) and what a verifier accepts as signedDate
    /// (400 days).
    private static let productionSpan = 390.0 * 86_400
    private static let sandboxSpan = 29.0 * 86_400

    static func span(in environment: StoreEnvironment) -> TimeInterval {
        environment == .production ? productionSpan : sandboxSpan
    }

    static func somewhere(
        before now: Date, in environment: StoreEnvironment, using random: inout SeededRandom
    ) -> Date {
        now.adding(-1 - span(in: environment) * random.fraction())
    }

    mutating func appEvent(now: Date) -> EventPayload {
        switch random.index(below: 9) {
        case 0: return externalPurchaseToken(.created, now: now)
        case 1: return externalPurchaseToken(.activeTokenReminder, now: now)
        case 2: return externalPurchaseToken(.unreported, now: now)
        case 3: return rescindedConsent(now: now)
        case 4: return extensionSummary(now: now)
        case 5: return objectOfTomorrow(now: now)
        default: return test(now: now)
        }
    }

    mutating func test(now: Date) -> EventPayload { payload(.test, now: now) }

    private mutating func payload(_ kind: NotificationKind, now: Date) -> EventPayload {
        let app = random.element(of: apps)
        return EventPayload(
            uuid: identities.uuid(), kind: kind, app: app,
            signedDate: Self.somewhere(before: now, in: app.environment, using: &random))
    }

    private mutating func externalPurchaseToken(_ subtype: NotificationSubtype, now: Date) -> EventPayload {
        var payload = payload(NotificationKind(.externalPurchaseToken, subtype), now: now)
        payload.object = .externalPurchaseToken(ExternalPurchaseToken(in: payload, id: identities.uuid()))
        return payload
    }

    private mutating func rescindedConsent(now: Date) -> EventPayload {
        var payload = payload(NotificationKind(.rescindConsent), now: now)
        payload.customer = Customer(of: payload.app, random: &random, identities: &identities)
        payload.object = .appData
        return payload
    }

    /// Of a type that Apple does not have yet, with an object that no client knows.
    private mutating func objectOfTomorrow(now: Date) -> EventPayload {
        var payload = payload(.unknownObject, now: now)
        payload.object = .other(name: "giftInfo", members: #""count":1"#)
        return payload
    }

    /// The summary of a mass extension of other subscriptions.
    private mutating func extensionSummary(now: Date) -> EventPayload {
        var payload = payload(.extensionSummary, now: now)
        var summary = NotificationSummary()
        summary.environment = AppStoreEnvironment(rawValue: payload.app.environment.rawValue)
        if payload.app.environment == .production { summary.appAppleId = payload.app.appAppleId }
        summary.bundleId = payload.app.bundleId
        summary.productId = random.element(of: Product.subscriptions).id(in: payload.app.bundleId)
        summary.requestIdentifier = identities.uuid().uuidString.lowercased()
        summary.storefrontCountryCodes = []
        summary.succeededCount = Int64(random.index(below: 10_000))
        summary.failedCount = Int64(random.index(below: 10))
        payload.object = .summary(summary)
        return payload
    }
}

extension ExternalPurchaseToken {
    /// A token for purchases outside of the App Store, about which the developer must report.
    init(in payload: EventPayload, id: UUID) {
        self.init()
        // The token itself names the sandbox; nothing else in it does.
        let prefix = payload.app.environment == .sandbox ? "SANDBOX_" : ""
        externalPurchaseId = prefix + id.uuidString.lowercased()
        tokenCreationDate = payload.signedDate.adding(payload.kind.subtype == .created ? -1 : -30 * 86_400)
        appAppleId = payload.app.appAppleId
        bundleId = payload.app.bundleId
        tokenType = "SERVICES"
        tokenExpirationDate = tokenCreationDate?.adding(365 * 86_400)
    }
}
