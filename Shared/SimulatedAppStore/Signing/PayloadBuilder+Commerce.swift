import AppStore
import Contracts
import StrictJSON

/// What Advanced Commerce adds, in every transaction and renewal info of such a purchase.
extension PayloadBuilder {
    /// - Returns: nil for another purchase.
    static func commerceInfo(of purchase: Purchase) -> RawJSON? {
        guard let commerce = purchase.commerce else { return nil }
        return commerceInfo(of: purchase, commerce.taxCode, commerce.labels.now) { json in
            let net = purchase.price * 100 / 119
            json.member("taxRate", "0.19")
            json.member("taxExclusivePrice", net)
            json.member("estimatedTax", purchase.price - net)
            json.beginArray("items")
            for item in commerce.items {
                json.begin(item, price: item.price, purchase.offer, of: purchase.product)
                if !item.refunds.isEmpty {
                    json.beginArray("refunds")
                    for refund in item.refunds { json.element(raw: Self.object(of: refund)) }
                    json.endArray()
                }
                if let date = item.revokedAt { json.member("revocationDate", date.milliseconds) }
                json.endObject()
            }
            json.endArray()
        }
    }

    /// - Returns: nil for another purchase.
    static func commerceInfo(of renewal: Renewal, of purchase: Purchase) -> RawJSON? {
        guard let commerce = purchase.commerce else { return nil }
        return commerceInfo(of: purchase, commerce.taxCode, commerce.labels.renewed.now) { json in
            json.member("consistencyToken", purchase.transactionId)
            json.beginArray("items")
            for item in commerce.items where item.revokedAt == nil {
                let next = item.nextPrice ?? item.price
                json.begin(item.renewed, price: min(item.price, next), renewal.nextOffer, of: renewal.nextProduct)
                if next > item.price {
                    json.beginObject("priceIncreaseInfo")
                    json.beginArray("dependentSKUs")
                    json.endArray()
                    json.member("price", next)
                    json.member("status", renewal.increaseStatus)
                    json.endObject()
                }
                json.endObject()
            }
            json.endArray()
        }
    }

    private static func commerceInfo(
        of purchase: Purchase, _ taxCode: String, _ label: Commerce.Label, _ members: (inout JSONWriter) -> Void
    ) -> RawJSON {
        var json = JSONWriter()
        json.beginObject()
        json.member("requestReferenceId", purchase.transactionId)
        json.member("taxCode", taxCode)
        json.beginObject("descriptors")
        json.member("displayName", label.name)
        json.member("description", label.description)
        json.endObject()
        json.member("period", purchase.product.period?.rawValue ?? "P1M")
        members(&json)
        json.endObject()
        return RawJSON(json.bytes)
    }

    private static func object(of refund: Commerce.Refund) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("refundAmount", refund.amount)
        json.member("refundDate", refund.date.milliseconds)
        json.member("refundReason", refund.reason)
        json.member("refundType", refund.type)
        json.endObject()
        return json.bytes
    }
}

extension JSONWriter {
    /// Begins an element with what the items of transactions and of renewals have.
    fileprivate mutating func begin(_ item: Commerce.Item, price: Int64, _ offer: Offer?, of product: Product) {
        beginObject()
        member("SKU", item.sku)
        member("displayName", item.labels.now.name)
        member("description", item.labels.now.description)
        member("price", price)
        guard let offer, let period = offer.period ?? product.period else { return }
        beginObject("offer")
        member("period", period.rawValue)
        member("periodCount", 1)
        member("price", offer.payment == .freeTrial ? 0 : price / 2)
        member("reason", offer.commerceReason)
        endObject()
    }
}

extension Offer {
    /// Why Advanced Commerce has it.
    fileprivate var commerceReason: String {
        switch kind {
        case .introductory: "ACQUISITION"
        case .promotional, .code: "RETENTION"
        case .winBack: "WIN_BACK"
        }
    }
}

extension Renewal {
    /// Of a price that is higher from the next period on; without consent it is only scheduled.
    fileprivate var increaseStatus: String {
        switch priceIncreaseStatus {
        case 0: "PENDING"
        case 1: "ACCEPTED"
        default: "SCHEDULED"
        }
    }
}
