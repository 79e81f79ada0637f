import Contracts

import struct Foundation.Date

/// What a proven notification says that is about no single purchase. It changes no subscription; the newest of each
/// ``subject`` is what is believed.
public struct AppNews: Sendable, Equatable {
    /// What it is about.
    public enum Content: Sendable, Equatable {
        /// We asked for it.
        case test
        /// A mass extension is complete. Nil where Apple left a count out.
        case massExtension(requestIdentifier: String, productId: String, succeeded: Int64?, failed: Int64?)
        /// A token for purchases outside of the App Store.
        case externalPurchaseToken(id: String)
        /// A parent withdrew consent. Apple's id of the customer within the app is nil where Apple left it out.
        case consentRescinded(appTransactionId: String?)
        /// Something else; a later build may know it.
        case other
    }

    /// Where it happened.
    public var environment: StoreEnvironment
    /// The app.
    public var bundleId: String
    /// How new it is.
    public var stamp: Stamp
    /// Apple's raw type.
    public var notificationType: String
    /// Apple's raw subtype.
    public var subtype: String?
    /// What it is about.
    public var content: Content

    /// All fields.
    public init(
        environment: StoreEnvironment, bundleId: String, stamp: Stamp, notificationType: String, subtype: String?,
        content: Content
    ) {
        self.environment = environment
        self.bundleId = bundleId
        self.stamp = stamp
        self.notificationType = notificationType
        self.subtype = subtype
        self.content = content
    }

    /// With environment and app, what the news is about: of two with one subject the newer counts.
    public var subject: String {
        switch content {
        case .test: "test"
        case .massExtension(let requestIdentifier, _, _, _): "extension \(requestIdentifier)"
        case .externalPurchaseToken(let id): "token \(id)"
        case .consentRescinded(let appTransactionId): "consent \(appTransactionId ?? "")"
        case .other: Happening.event(notificationType, subtype)
        }
    }

    /// What happened, for an operator.
    public var sentence: String {
        switch content {
        case .test: "Apple sent a test that we asked for."
        case .massExtension(let request, let product, let succeeded, let failed):
            "The mass extension \(request) of \(product) is complete: \(Self.count(succeeded)) extended, "
                + "\(Self.count(failed)) not."
        case .externalPurchaseToken(let id): "The external purchase token \(id) \(tokenState)."
        case .consentRescinded(let customer):
            "A parent withdrew the consent to use the app\(customer.map { " (customer \($0))" } ?? "")."
        case .other: "Apple sent \(Happening.event(notificationType, subtype)), which is about no single purchase."
        }
    }

    private var tokenState: String {
        switch Happening(notificationType: notificationType, subtype: subtype) {
        case .tokenUnreported: "was not reported on; report it to Apple"
        case .tokenCreated: "was made"
        case .tokenReminder: "is still open"
        default: "was mentioned as \(Happening.event(notificationType, subtype))"
        }
    }

    private static func count(_ number: Int64?) -> String { number.map { String($0) } ?? "an unknown number" }
}
