import AppStore
import Foundation
import Signatures
import StrictJSON

/// What the developer's server signed for a purchase.
struct SignedOffer: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        /// With the identifier of App Store Connect.
        case promotional(String)
        /// Whether the customer gets the introductory offer.
        case introductory(isAllowed: Bool)
    }

    var kind: Kind
    /// Apple takes each once.
    var nonce: String
    /// Of a transaction of the customer, or the appTransactionId; nil: any customer may buy with it.
    var transactionId: String?

    /// What the purchase has; nil: it is at the full price.
    var offer: Offer? {
        switch kind {
        case .promotional(let identifier): Offer(kind: .promotional, payment: .payAsYouGo, name: identifier)
        case .introductory(let isAllowed): isAllowed ? .freeWeek : nil
        }
    }
}

/// Checks the signature of an offer by Apple's rules.
///
/// Apple's error has no reason; a developer who tries out a server needs one.
struct OfferCheck: Sendable {
    /// How long Apple takes a signature of StoreKit 1. For a JWS no time is documented; the same is our reading.
    private static let longestLife: TimeInterval = 86_400
    /// Seconds that a server's clock may be ahead.
    private static let skew: TimeInterval = 60
    /// An invisible character, which Apple puts between the fields of StoreKit 1.
    private static let separator = "\u{2063}"

    let keys: KeyRing

    /// - Parameters:
    ///   - signed: a JWS, or an object with the members of `SKPaymentDiscount`.
    ///   - now: the time of day.
    /// - Throws: ``SimulatorError`` with StoreKit's error where the App Store would refuse the purchase.
    func offer(
        _ signed: JSONValue, of product: Product, for buyer: ManualPurchases.Buyer, now: Date
    ) throws -> SignedOffer {
        try Self.check(product, buyer)
        guard let jws = signed.string else { return try discount(signed, of: product, for: buyer, now: now) }
        let claims = try claims(of: jws, "promotional-offer", product, buyer, now: now)
        guard let identifier = claims["offerIdentifier"]?.string else {
            throw Self.invalid("the JWS has no offerIdentifier")
        }
        return SignedOffer(
            kind: .promotional(identifier), nonce: try Self.nonce(claims["nonce"]),
            transactionId: claims["transactionId"]?.string)
    }

    /// Whether the customer gets the introductory offer, whatever was bought before.
    ///
    /// - Parameter jws: what the purchase option `introductoryOfferEligibility` takes.
    /// - Throws: ``SimulatorError`` with StoreKit's error where the App Store would refuse the purchase.
    func introductoryEligibility(
        _ jws: String, of product: Product, for buyer: ManualPurchases.Buyer, now: Date
    ) throws -> SignedOffer {
        try Self.check(product, buyer)
        let claims = try claims(of: jws, "introductory-offer-eligibility", product, buyer, now: now)
        guard let isAllowed = claims["allowIntroductoryOffer"]?.bool,
            let transactionId = claims["transactionId"]?.string
        else { throw Self.invalid("the JWS has no allowIntroductoryOffer or no transactionId") }
        return SignedOffer(
            kind: .introductory(isAllowed: isAllowed), nonce: try Self.nonce(claims["nonce"]),
            transactionId: transactionId)
    }

    private static func check(_ product: Product, _ buyer: ManualPurchases.Buyer) throws {
        guard product.kind == .autoRenewable, !buyer.isFamilyShared else {
            throw SimulatorError("a signed offer is for who buys an auto-renewable subscription")
        }
    }

    /// The claims of a JWS that a key signed for this purchase.
    ///
    /// https://developer.apple.com/documentation/storekit/generating-jws-to-sign-app-store-requests
    private func claims(
        of jws: String, _ audience: String, _ product: Product, _ buyer: ManualPurchases.Buyer, now: Date
    ) throws -> JSONValue {
        guard let claims = keys.claims(of: Array(jws.utf8)) else {
            throw Self.invalid("the JWS has no valid signature of an In-App Purchase key of this simulator")
        }
        for (name, expected) in [
            ("aud", audience), ("bid", buyer.app.bundleId), ("productId", product.id(in: buyer.app.bundleId)),
        ] where claims[name]?.string != expected {
            throw Self.invalid("\(name) is \(claims[name]?.string ?? "missing"), and the purchase is of \(expected)")
        }
        // Apple's own library for Swift writes fractions of a second.
        guard let issued = claims["iat"]?.double else { throw Self.invalid("the JWS has no iat") }
        try Self.check(Date(timeIntervalSince1970: issued), now: now)
        return claims
    }

    /// https://developer.apple.com/documentation/storekit/generating-a-signature-for-promotional-offers
    private func discount(
        _ discount: JSONValue, of product: Product, for buyer: ManualPurchases.Buyer, now: Date
    ) throws -> SignedOffer {
        guard let identifier = discount["identifier"]?.string, let keyId = discount["keyIdentifier"]?.string,
            let timestamp = discount["timestamp"]?.int64, let signature = discount["signature"]?.string
        else { throw Self.invalid("identifier, keyIdentifier, timestamp or signature is missing") }
        let nonce = try Self.nonce(discount["nonce"])
        guard nonce == discount["nonce"]?.string else { throw Self.invalid("nonce is not in lower case") }
        // The account is that of the payment, whatever was signed.
        let fields = [
            buyer.app.bundleId, keyId, product.id(in: buyer.app.bundleId), identifier,
            buyer.appAccountToken?.uuidString.lowercased() ?? "", nonce, String(timestamp),
        ]
        guard let key = keys[keyId],
            let raw = Base64.decode(Array(signature.utf8)[...], .standard).flatMap(Self.raw),
            key.publicKey.isValid(
                signature: raw, over: Array(fields.joined(separator: Self.separator).utf8))
        else {
            throw Self.invalid(
                "key \(keyId) did not sign the offer \(identifier) of \(fields[2]) for "
                    + (fields[4].isEmpty ? "a purchase without account" : "the account \(fields[4])"))
        }
        try Self.check(Date(timeIntervalSince1970: Double(timestamp) / 1000), now: now)
        return SignedOffer(kind: .promotional(identifier), nonce: nonce)
    }

    private static func check(_ date: Date, now: Date) throws {
        let age = now.timeIntervalSince(date)
        guard age >= -skew else { throw invalid("it is dated \(date.formatted(.iso8601)), which is in the future") }
        guard age <= longestLife else {
            throw invalid("it is of \(date.formatted(.iso8601)), and good for 24 hours")
        }
    }

    /// In lower case. Apple wants that in a signature of StoreKit 1, and its own Swift library signs a JWS with upper case.
    private static func nonce(_ value: JSONValue?) throws -> String {
        guard let nonce = value?.string.flatMap({ UUID(uuidString: $0) }) else { throw invalid("nonce is no UUID") }
        return nonce.uuidString.lowercased()
    }

    static func invalid(_ reason: String) -> SimulatorError { SimulatorError("invalidOfferSignature: \(reason)") }

    /// r‖s of a signature in DER: a sequence of two integers, each shorter than 128 bytes.
    private static func raw(ofDER bytes: [UInt8]) -> [UInt8]? {
        var rest = bytes[...]
        guard rest.popFirst() == 0x30, let length = rest.popFirst(), length < 0x80, Int(length) == rest.count else {
            return nil
        }
        var raw: [UInt8] = []
        for _ in 0..<2 {
            guard rest.popFirst() == 0x02, let count = rest.popFirst(), count < 0x80, Int(count) <= rest.count else {
                return nil
            }
            let digits = rest.prefix(Int(count)).drop { $0 == 0 }
            guard digits.count <= 32 else { return nil }
            raw += [UInt8](repeating: 0, count: 32 - digits.count) + digits
            rest = rest.dropFirst(Int(count))
        }
        return rest.isEmpty ? raw : nil
    }
}
