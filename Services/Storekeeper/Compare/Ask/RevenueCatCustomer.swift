import AppStore
import Foundation
import StrictJSON

/// RevenueCat's answer about a customer, as records of its export. Pure.
///
/// Members that are not named here are not read: an answer has the customer's attributes, too.
///
/// https://www.revenuecat.com/docs/api-v1/customers
struct RevenueCatCustomer {
    static let columns = [
        "rc_original_app_user_id", "rc_last_seen_app_user_id_alias", "store", "is_sandbox", "store_transaction_id",
        original, "product_identifier", "start_time", "end_time", "grace_period_end_time", "refunded_at",
        "ownership_type", "entitlement_identifiers",
    ]
    /// The column that the API does not answer.
    static let original = "original_store_transaction_id"

    private(set) var records: [AnsweredRecord] = []
    private let ids: [String: String?]
    private let began: Date
    private let entitlements: [(key: String, value: JSONValue)]

    /// - Parameter began: when the first customer of the file was asked about.
    init(_ answer: JSONValue, _ customer: String, since began: Date) throws(AnswerFault) {
        guard let subscriber = answer["subscriber"], subscriber.kind == .object else {
            throw AnswerFault("the answer has no subscriber")
        }
        ids = [
            "rc_original_app_user_id": subscriber["original_app_user_id"]?.string ?? customer,
            "rc_last_seen_app_user_id_alias": customer,
        ]
        self.began = began
        entitlements = subscriber["entitlements"]?.members ?? []
        for (product, subscription) in subscriber["subscriptions"]?.members ?? [] {
            add(
                subscription, of: product,
                [
                    "start_time": start(of: subscription), "end_time": subscription["expires_date"]?.string,
                    "grace_period_end_time": subscription["grace_period_expires_date"]?.string,
                ])
        }
        for (product, purchases) in subscriber["non_subscriptions"]?.members ?? [] {
            // A product without renewals may give an entitlement for some time: only the entitlement says until when.
            let end = entitlements.first { $0.value["product_identifier"]?.string == product }?.value["expires_date"]
            for purchase in purchases.elements {
                add(
                    purchase, of: product,
                    ["start_time": purchase["purchase_date"]?.string, "end_time": end?.string])
            }
        }
    }

    /// Customers are asked one after another, and the answers are compared at the moment of the first: a period that began since
    /// continues what the subscription gave before.
    private func start(of subscription: JSONValue) -> String? {
        let newest = subscription["purchase_date"]?.string
        guard let date = newest.flatMap(FileDate.date), date > began else { return newest }
        return subscription["original_purchase_date"]?.string ?? newest
    }

    private mutating func add(_ purchase: JSONValue, of product: String, _ times: [String: String?]) {
        let store = purchase["store"]?.string
        let id = purchase["store_transaction_id"]?.string
        let fields: [String: String?] = [
            "store": store, "is_sandbox": "\(purchase["is_sandbox"]?.bool ?? false)", "store_transaction_id": id,
            "product_identifier": product, "refunded_at": purchase["refunded_at"]?.string,
            "ownership_type": purchase["ownership_type"]?.string,
            "entitlement_identifiers": Self.list(
                entitlements.filter { $0.value["product_identifier"]?.string == product }.map(\.key)),
        ]
        let isOfAppStore = store == "app_store" || store == "mac_app_store"
        records.append(
            AnsweredRecord(
                fields.merging(ids) { first, _ in first }.merging(times) { first, _ in first },
                transactionId: isOfAppStore ? id.flatMap { $0.isTransactionId ? $0 : nil } : nil))
    }

    private static func list(_ names: [String]) -> String {
        var json = JSONWriter()
        json.beginArray()
        for name in names { json.element(name) }
        json.endArray()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
