import Signatures
import StrictJSON

import struct Foundation.Date
import struct Foundation.UUID

/// Signs what an app shows to the App Store when a customer buys with an offer: with the In-App Purchase key that also calls
/// Apple's API.
///
/// <https://developer.apple.com/documentation/storekit/generating-jws-to-sign-app-store-requests>
public struct OfferSigner: Sendable {
    /// The app in which the offer is bought.
    public let bundleId: String
    private let key: APIKey

    /// - Parameter key: of the app's account.
    public init(bundleId: String, key: APIKey) {
        self.bundleId = bundleId
        self.key = key
    }

    /// The key that signs, by its id.
    public var keyId: String { key.keyId }

    /// A promotional offer for StoreKit 2.
    ///
    /// - Parameters:
    ///   - transactionId: of any transaction of the customer, or the appTransactionId; without it any customer may use the offer.
    ///   - nonce: new for every signature.
    /// - Throws: `OpenSSLFailure` where the key cannot sign.
    public func promotionalOffer(
        productId: String, offerIdentifier: String, transactionId: String?, nonce: UUID, now: Date
    ) throws -> String {
        try jws("promotional-offer", nonce: nonce, now: now) { claims in
            claims.member("productId", productId)
            claims.member("offerIdentifier", offerIdentifier)
            if let transactionId { claims.member("transactionId", transactionId) }
        }
    }

    /// Whether a customer gets the introductory offer of a product, whatever the App Store would decide by itself.
    ///
    /// - Parameter transactionId: of any transaction of the customer, or the appTransactionId.
    /// - Throws: `OpenSSLFailure` where the key cannot sign.
    public func introductoryOffer(
        productId: String, isAllowed: Bool, transactionId: String, nonce: UUID, now: Date
    ) throws -> String {
        try jws("introductory-offer-eligibility", nonce: nonce, now: now) { claims in
            claims.member("productId", productId)
            claims.member("allowIntroductoryOffer", isAllowed)
            claims.member("transactionId", transactionId)
        }
    }

    /// An in-app request of Advanced Commerce, which the app hands to StoreKit.
    ///
    /// - Parameter json: Apple's request, such as one to create a subscription; signed in Base64, byte for byte.
    /// - Throws: `OpenSSLFailure` where the key cannot sign.
    public func advancedCommerceRequest(_ json: [UInt8], nonce: UUID, now: Date) throws -> String {
        try jws("advanced-commerce-api", nonce: nonce, now: now) { claims in
            claims.member("request", String(decoding: Base64.encode(json, .standard), as: UTF8.self))
        }
    }

    /// A promotional offer for StoreKit 1: Base64 of the signature over the fields that `SKPaymentDiscount` has, which the app
    /// must hand over exactly as given here.
    ///
    /// <https://developer.apple.com/documentation/storekit/generating-a-signature-for-promotional-offers>
    /// - Parameters:
    ///   - applicationUsername: as in `SKMutablePayment`; an account token, or empty. Lower case counts.
    ///   - timestamp: in milliseconds; the offer can be bought for 24 hours from then.
    /// - Throws: `OpenSSLFailure` where the key cannot sign.
    public func promotionalOfferSignature(
        productId: String, offerIdentifier: String, applicationUsername: String, nonce: UUID, timestamp: Int64
    ) throws -> String {
        let fields = [
            bundleId, key.keyId, productId, offerIdentifier, applicationUsername.lowercased(),
            nonce.uuidString.lowercased(), String(timestamp),
        ]
        let signature = try key.privateKey.derSignature(over: Array(fields.joined(separator: Self.separator).utf8))
        return String(decoding: Base64.encode(signature, .standard), as: UTF8.self)
    }

    /// An invisible character that no field has.
    private static let separator = "\u{2063}"

    private func jws(
        _ audience: String, nonce: UUID, now: Date, _ write: (inout JSONWriter) -> Void
    ) throws -> String {
        try key.jws { claims in
            claims.member("iss", key.issuerId)
            claims.member("bid", bundleId)
            claims.member("aud", audience)
            claims.member("iat", Int64(now.timeIntervalSince1970))
            claims.member("nonce", nonce.uuidString.lowercased())
            write(&claims)
        }
    }
}
