import Records
import StrictJSON

import struct Foundation.Date

extension SubscriptionChanged {
    /// A transaction as far as it says what was bought, for how much, and until when. Members have Apple's names and values; what
    /// Apple did not send is nil and left out. Nothing in it names a person.
    ///
    /// [JWSTransactionDecodedPayload](https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload)
    public struct Transaction: Sendable, Hashable {
        /// Apple's id of the transaction.
        public var transactionId: String
        /// The product, by its App Store Connect id.
        public var productId: String
        /// Such as `Auto-Renewable Subscription`.
        public var type: String
        /// The beginning of the period; of a purchase, when it was charged.
        public var purchaseDate: Date?
        /// The end of the period; nil where the product has none.
        public var expiresDate: Date?
        /// The quantity of a consumable; 1 for all others.
        public var quantity: Int64?
        /// In thousandths of a unit of ``currency``.
        public var price: Int64?
        /// ISO 4217 code.
        public var currency: String?
        /// Three-letter country code.
        public var storefront: String?
        /// `PURCHASED` or `FAMILY_SHARED`.
        public var inAppOwnershipType: String?
        /// 1 introductory, 2 promotional, 3 code, 4 win-back.
        public var offerType: Int64?
        /// Apple's id of the offer.
        public var offerIdentifier: String?
        /// Such as `FREE_TRIAL`.
        public var offerDiscountType: String?
        /// When Apple refunded it or family sharing ended.
        public var revocationDate: Date?

        /// A transaction of which only what every one has is known.
        public init(transactionId: String, productId: String, type: String) {
            self.transactionId = transactionId
            self.productId = productId
            self.type = type
        }

        /// Nil where the members that every transaction has are missing.
        init?(_ json: JSONValue) {
            guard let transactionId = json["transactionId"]?.string, let productId = json["productId"]?.string,
                let type = json["type"]?.string
            else { return nil }
            self.init(transactionId: transactionId, productId: productId, type: type)
            purchaseDate = json["purchaseDate"]?.int64.map { Date(milliseconds: $0) }
            expiresDate = json["expiresDate"]?.int64.map { Date(milliseconds: $0) }
            quantity = json["quantity"]?.int64
            price = json["price"]?.int64
            currency = json["currency"]?.string
            storefront = json["storefront"]?.string
            inAppOwnershipType = json["inAppOwnershipType"]?.string
            offerType = json["offerType"]?.int64
            offerIdentifier = json["offerIdentifier"]?.string
            offerDiscountType = json["offerDiscountType"]?.string
            revocationDate = json["revocationDate"]?.int64.map { Date(milliseconds: $0) }
        }

        /// Writes the members of an object.
        func write(to json: inout JSONWriter) {
            json.member("transactionId", transactionId)
            json.member("productId", productId)
            json.member("type", type)
            if let purchaseDate { json.member("purchaseDate", purchaseDate.milliseconds) }
            if let expiresDate { json.member("expiresDate", expiresDate.milliseconds) }
            if let quantity { json.member("quantity", quantity) }
            if let price { json.member("price", price) }
            if let currency { json.member("currency", currency) }
            if let storefront { json.member("storefront", storefront) }
            if let inAppOwnershipType { json.member("inAppOwnershipType", inAppOwnershipType) }
            if let offerType { json.member("offerType", offerType) }
            if let offerIdentifier { json.member("offerIdentifier", offerIdentifier) }
            if let offerDiscountType { json.member("offerDiscountType", offerDiscountType) }
            if let revocationDate { json.member("revocationDate", revocationDate.milliseconds) }
        }
    }
}
