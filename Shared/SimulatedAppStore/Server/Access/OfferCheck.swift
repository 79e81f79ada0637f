import AppStore
import Foundation
import Signatures
import StrictJSON

/// A promotional offer that the developer's server signed for a purchase.
struct SignedOffer: Sendable, Equatable {
    /// As in App Store Connect.
    var identifier: String
    /// Apple takes each once.
    var nonce: String
    /// Of a transaction of the customer, or the appTransactionId; nil: any customer may buy with it.
    var transactionId: String?
}

/// Checks the signature of a promotional offer by Apple's rules.
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
        guard product.kind == .autoRenewable, !buyer.isFamilyShared else {
            throw SimulatorError("a promotional offer is for who buys an auto-renewable subscription")
        }
        return if let jws = signed.string {
            try offer(jws, of: product, for: buyer, now: now)
        } else {
            try discount(signed, of: product, for: buyer, now: now)
        }
    }

    /// https://developer.apple.com/documentation/storekit/generating-jws-to-sign-app-store-requests
    private func offer(
        _ jws: String, of product: Product, for buyer: ManualPurchases.Buyer, now: Date
    ) throws -> SignedOffer {
        guard let claims = keys.claims(of: Array(jws.utf8)) else {
            throw Self.invalid("the JWS has no valid signature of an In-App Purchase key of this simulator")
        }
        for (name, expected) in [
            ("aud", "promotional-offer"), ("bid", buyer.app.bundleId),
            ("productId", product.id(in: buyer.app.bundleId)),
        ] where claims[name]?.string != expected {
            throw Self.invalid("\(name) is \(claims[name]?.string ?? "missing"), and the purchase is of \(expected)")
        }
        guard let identifier = claims["offerIdentifier"]?.string, let issued = claims["iat"]?.int64 else {
            throw Self.invalid("the JWS has no offerIdentifier or no iat")
        }
        try Self.check(Date(timeIntervalSince1970: Double(issued)), now: now)
        return SignedOffer(
            identifier: identifier, nonce: try Self.nonce(claims["nonce"]),
            transactionId: claims["transactionId"]?.string)
    }

    /// https://developer.apple.com/documentation/storekit/generating-a-signature-for-promotional-offers
    private func discount(
        _ discount: JSONValue, of product: Product, for buyer: ManualPurchases.Buyer, now: Date
    ) throws -> SignedOffer {
        guard let identifier = discount["identifier"]?.string, let keyId = discount["keyIdentifier"]?.string,
            let timestamp = discount["timestamp"]?.int64, let signature = discount["signature"]?.string
        else { throw Self.invalid("identifier, keyIdentifier, timestamp or signature is missing") }
        let nonce = try Self.nonce(discount["nonce"])
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
        return SignedOffer(identifier: identifier, nonce: nonce)
    }

    private static func check(_ date: Date, now: Date) throws {
        let age = now.timeIntervalSince(date)
        guard age >= -skew else { throw invalid("it is dated \(date.formatted(.iso8601)), which is in the future") }
        guard age <= longestLife else {
            throw invalid("it is of \(date.formatted(.iso8601)), and good for 24 hours")
        }
    }

    private static func nonce(_ value: JSONValue?) throws -> String {
        guard let nonce = value?.string, UUID(uuidString: nonce) != nil, nonce == nonce.lowercased() else {
            throw invalid("nonce is no UUID in lower case")
        }
        return nonce
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
