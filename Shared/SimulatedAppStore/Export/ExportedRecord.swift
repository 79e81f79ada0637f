import Contracts
import Foundation

/// One transaction, as another system has it.
struct ExportedRecord: Sendable, Equatable {
    enum Store: Sendable, Equatable { case appStore, playStore, byHand }

    var customerId: String
    var store = Store.appStore
    var isSandbox = false
    /// Nil for access by hand.
    var transactionId: String?
    var originalTransactionId: String?
    var productId: String
    var isSubscription = true
    var isRenewal = false
    var isFamilyShared = false
    var start: Date
    /// The end of what was paid; nil where it has none.
    var end: Date?
    /// When access ends there; nil where it does not.
    var effectiveEnd: Date?
    var graceEnd: Date?
    var refundedAt: Date?
    /// True where it gives access: a consumable does not.
    var givesAccess = true
}

extension ExportedRecord {
    /// The records that a system without a fault has of a purchase: one for each transaction.
    /// - Parameter periods: of access.
    static func records(
        of transactions: [Purchase], for customer: Customer, _ periods: [ExpectedAccess.Period]
    ) -> [ExportedRecord] {
        transactions.map { transaction in
            let product = transaction.product
            let place = periods.lastIndex { $0.transactionId == transaction.transactionId }
            // Grace stands after the period that it prolongs.
            let grace = place.flatMap { place in
                place + 1 < periods.count && periods[place + 1].transactionId == nil ? periods[place + 1] : nil
            }
            let isConsumable = product.kind == .consumable
            // A transaction with nothing left of its period was refunded or replaced at once.
            let end = isConsumable ? nil : place.map { periods[$0].end } ?? transaction.purchaseDate
            return ExportedRecord(
                customerId: customer.exportedId, isSandbox: customer.app.environment == .sandbox,
                transactionId: transaction.transactionId, originalTransactionId: transaction.originalTransactionId,
                productId: product.id(in: customer.app.bundleId), isSubscription: product.isSubscription,
                isRenewal: transaction.reason == .renewal, isFamilyShared: customer.ownership == .familyShared,
                start: transaction.purchaseDate, end: transaction.expiresDate, effectiveEnd: grace?.end ?? end,
                graceEnd: grace?.end, refundedAt: transaction.revocation?.date, givesAccess: product.kind != .consumable
            )
        }
    }
}

extension Customer {
    /// The app's id of the customer: the account that it names to Apple, where it names one.
    var exportedId: String { appAccountToken?.uuidString.lowercased() ?? "customer-\(appTransactionId)" }
}
