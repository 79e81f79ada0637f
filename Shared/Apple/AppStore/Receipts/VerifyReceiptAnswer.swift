import StrictJSON

/// The JSON that Apple's `verifyReceipt` once answered, as backends stored it. It is not signed: it is a list of ids to ask
/// Apple about, whose answer is then proven. Never a reason to grant access.
///
/// <https://developer.apple.com/documentation/appstorereceipts/responsebody>
public struct VerifyReceiptAnswer: Sendable, Hashable {
    /// The app it says it is of.
    public let bundleId: String?
    /// Apple's word; the newer answers have it.
    public let environment: AppStoreEnvironment?
    /// Of `in_app`, `latest_receipt_info` and `pending_renewal_info`, each once, in this order.
    public let originalTransactionIds: [String]

    /// - Throws: `ReceiptFault` where it names no purchase, or a transaction id that is none.
    public init(json: JSONValue) throws(ReceiptFault) {
        guard json.kind == .object else { throw .malformed("it is not a JSON object") }
        let receipt = json["receipt"]
        bundleId = (receipt?["bundle_id"] ?? receipt?["bid"])?.string
        environment = json["environment"]?.string.map { AppStoreEnvironment(rawValue: $0) }
        var ids: [String] = []
        // Any client can list as many ids as a body holds.
        var known: Set<String> = []
        for list in [receipt?["in_app"], json["latest_receipt_info"], json["pending_renewal_info"]] {
            guard let list else { continue }
            // One object stands for a list of one, as in answers about receipts of the time before iOS 7.
            for entry in list.kind == .array ? list.elements : [list] {
                guard let id = Self.id(of: entry) else { continue }
                guard id.isTransactionId else { throw .malformed("a transaction id is none") }
                if known.insert(id).inserted { ids.append(id) }
            }
        }
        if let id = receipt.flatMap(Self.id) {
            guard id.isTransactionId else { throw .malformed("a transaction id is none") }
            if known.insert(id).inserted { ids.append(id) }
        }
        guard !ids.isEmpty else { throw .withoutPurchases }
        originalTransactionIds = ids
    }

    private static func id(of entry: JSONValue) -> String? {
        (entry["original_transaction_id"] ?? entry["transaction_id"])?.string.flatMap { $0.isEmpty ? nil : $0 }
    }
}
