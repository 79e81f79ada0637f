import Operations
import Storage
import StrictJSON

import struct Foundation.UUID

/// Whether an account may use one product now, by which transaction, and why.
struct OwnedProduct: Sendable {
    private let product: String
    private let view: AccountView
    /// The newest transaction of the product among all purchases of the account.
    private let newest: ProductTransaction?
    /// The line of the entitlement that gives the product; nil where none does.
    private let line: AccountAccess.Line?

    init(_ product: String, _ view: AccountView, newest: ProductTransaction?) {
        self.product = product
        self.view = view
        self.newest = newest
        line = view.access.entitlements.map(\.line).filter { $0.productId == product }.max {
            // Where several give it, the one that lasts longest counts.
            ($0.until ?? .distantFuture) < ($1.until ?? .distantFuture)
        }
    }

    func write(to json: inout JSONWriter) {
        json.member("appAccountToken", view.access.account.uuidString.lowercased())
        json.member("environment", view.access.environment.rawValue)
        json.member("productId", product)
        json.member("isOwned", line != nil)
        json.member("until", line?.until?.milliseconds)
        json.member("reason", reason.name)
        json.member("nextStep", reason.nextStep)
        json.member("originalTransactionId", line?.source == .access ? line?.id : newest?.originalTransactionId)
        json.object("transaction", newest) { json, newest in
            json.transaction(
                newest.version.facts, originalTransactionId: newest.originalTransactionId, bundleId: newest.bundleId)
        }
    }

    private var reason: (name: String, nextStep: String?) {
        if let line { return (line.reason ?? "unknown", nil) }
        guard let newest else { return ("neverBought", nil) }
        guard let purchase = view.access.withheld.first(where: { $0.id == newest.originalTransactionId }) else {
            // The purchase gives access, and to another product.
            return ("upgraded", nil)
        }
        let reason = view.reason(withheld: purchase)
        return (reason.name, reason.nextStep)
    }
}
