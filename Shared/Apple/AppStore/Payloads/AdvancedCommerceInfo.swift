import StrictJSON

import struct Foundation.Date

/// What Advanced Commerce adds to a transaction or to renewal information: the developer's own items under one generic product.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/advancedcommercetransactioninfo>,
/// <https://developer.apple.com/documentation/appstoreserverapi/advancedcommercerenewalinfo>
public struct AdvancedCommerceInfo: Payload, Hashable {
    /// The developer's UUID of the request that led to it.
    public var requestReferenceId: String?
    /// What is sold, in the customer's words.
    public var descriptors: Descriptors?
    /// The items.
    public var items: [Item]?
    /// ISO 8601 duration of a subscription's period.
    public var period: String?
    /// Apple's category for taxes.
    public var taxCode: String?
    /// Apple's estimate of the transaction's tax, in thousandths of a unit of its currency.
    public var estimatedTax: Int64?
    /// The transaction's price without tax, in thousandths of a unit of its currency.
    public var taxExclusivePrice: Int64?
    /// The rate of the tax, a decimal number as text.
    public var taxRate: String?
    /// Which version of the subscription a request may refer to; of renewal information.
    public var consistencyToken: String?

    /// A name and a description.
    public struct Descriptors: Payload, Hashable {
        /// In the customer's words.
        public var displayName: String?
        /// In the customer's words.
        public var description: String?

        /// Reads Apple's JSON; fields without a value here are passed over.
        public init(json: JSONValue) throws(PayloadFault) {
            let fields = try PayloadFields(json)
            displayName = fields.attempt("displayName")
            description = fields.attempt("description")
        }

        /// Writes Apple's members; what is nil is left out.
        public func writeMembers(to writer: inout JSONWriter) {
            writer.field("displayName", displayName)
            writer.field("description", description)
        }
    }

    /// One item of the developer's.
    public struct Item: Payload, Hashable {
        /// The developer's id of it.
        public var sku: String?
        /// In the customer's words.
        public var displayName: String?
        /// In the customer's words.
        public var description: String?
        /// In thousandths of a unit of the currency.
        public var price: Int64?
        /// The offer, as JSON.
        public var offer: RawJSON?
        /// Refunds of it; of a transaction.
        public var refunds: [Refund]?
        /// When it was revoked; of a transaction.
        public var revocationDate: Date?
        /// A price that is higher from the next period on; of renewal information.
        public var priceIncreaseInfo: PriceIncrease?

        /// Reads Apple's JSON; fields without a value here are passed over.
        public init(json: JSONValue) throws(PayloadFault) {
            let fields = try PayloadFields(json)
            sku = fields.attempt("SKU")
            displayName = fields.attempt("displayName")
            description = fields.attempt("description")
            price = fields.attempt("price")
            offer = try fields.read("offer")
            refunds = try fields.read("refunds")
            revocationDate = try fields.read("revocationDate")
            priceIncreaseInfo = try fields.read("priceIncreaseInfo")
        }

        /// Writes Apple's members; what is nil is left out.
        public func writeMembers(to writer: inout JSONWriter) {
            writer.field("SKU", sku)
            writer.field("displayName", displayName)
            writer.field("description", description)
            writer.field("price", price)
            writer.field("offer", offer)
            if let refunds { writer.field("refunds", refunds) }
            writer.field("revocationDate", revocationDate)
            writer.field("priceIncreaseInfo", priceIncreaseInfo)
        }
    }

    /// A refund of one item.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/advancedcommercerefund>
    public struct Refund: Payload, Hashable {
        /// In thousandths of a unit of the currency.
        public var refundAmount: Int64?
        /// When Apple refunded it.
        public var refundDate: Date?
        /// Apple's spelling, such as `FULFILLMENT_ISSUE`.
        public var refundReason: String?
        /// `FULL`, `PRORATED` or `CUSTOM`.
        public var refundType: String?

        /// Reads Apple's JSON; fields without a value here are passed over.
        public init(json: JSONValue) throws(PayloadFault) {
            let fields = try PayloadFields(json)
            refundAmount = fields.attempt("refundAmount")
            refundDate = try fields.read("refundDate")
            refundReason = fields.attempt("refundReason")
            refundType = fields.attempt("refundType")
        }

        /// Writes Apple's members; what is nil is left out.
        public func writeMembers(to writer: inout JSONWriter) {
            writer.field("refundAmount", refundAmount)
            writer.field("refundDate", refundDate)
            writer.field("refundReason", refundReason)
            writer.field("refundType", refundType)
        }
    }

    /// A price that is higher from the next period on.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/advancedcommercepriceincreaseinfo>
    public struct PriceIncrease: Payload, Hashable {
        /// Items whose consent hangs on this one.
        public var dependentSKUs: [String]?
        /// In thousandths of a unit of the currency.
        public var price: Int64?
        /// `SCHEDULED`, `PENDING` or `ACCEPTED`.
        public var status: String?

        /// Reads Apple's JSON; fields without a value here are passed over.
        public init(json: JSONValue) throws(PayloadFault) {
            let fields = try PayloadFields(json)
            dependentSKUs = fields.attempt("dependentSKUs")
            price = fields.attempt("price")
            status = fields.attempt("status")
        }

        /// Writes Apple's members; what is nil is left out.
        public func writeMembers(to writer: inout JSONWriter) {
            writer.field("dependentSKUs", dependentSKUs)
            writer.field("price", price)
            writer.field("status", status)
        }
    }

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        requestReferenceId = fields.attempt("requestReferenceId")
        descriptors = try fields.read("descriptors")
        items = try fields.read("items")
        period = fields.attempt("period")
        taxCode = fields.attempt("taxCode")
        estimatedTax = fields.attempt("estimatedTax")
        taxExclusivePrice = fields.attempt("taxExclusivePrice")
        taxRate = fields.attempt("taxRate")
        consistencyToken = fields.attempt("consistencyToken")
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("requestReferenceId", requestReferenceId)
        writer.field("descriptors", descriptors)
        if let items { writer.field("items", items) }
        writer.field("period", period)
        writer.field("taxCode", taxCode)
        writer.field("estimatedTax", estimatedTax)
        writer.field("taxExclusivePrice", taxExclusivePrice)
        writer.field("taxRate", taxRate)
        writer.field("consistencyToken", consistencyToken)
    }
}
