import AppStore
import Contracts
import Operations
import StrictJSON

/// The receipt of a record.
enum StoredReceipt {
    /// A receipt as an app sends it.
    case contents(UncheckedReceipt)
    /// An answer of Apple's verifyReceipt.
    case answer(JSONValue)
    /// Text of which nothing is known.
    case unusable(ReceiptFault)

    /// The name of the environment that it says it is of.
    var environment: String? {
        switch self {
        case .contents(let contents): contents.environment?.rawValue
        case .answer(let answer): answer["environment"]?.string
        case .unusable: nil
        }
    }
}

extension ImportReader {
    /// The purchases of a receipt; nil for one of another environment: tables have testers and Apple's reviewers among
    /// the customers.
    func purchases(ofReceipt bytes: [UInt8]) throws(Reason) -> [String]? {
        let receipt = try storedReceipt(bytes)
        guard !isOther(receipt.environment) else { return nil }
        switch receipt {
        case .unusable(let fault): throw Reason("unusable receipt: \(fault)")
        case .contents(let contents): return contents.originalTransactionIds
        case .answer(let answer):
            // Renewals of one purchase have its id again.
            var ids: [String] = []
            for transaction in Self.transactions(of: answer) + (answer["pending_renewal_info"]?.elements ?? []) {
                guard let id = transaction["original_transaction_id"] else { continue }
                let text = try transactionId(Self.text(of: id), "original_transaction_id")
                if !ids.contains(text) { ids.append(text) }
            }
            guard !ids.isEmpty else { throw Reason("the answer of verifyReceipt has no purchases") }
            return ids
        }
    }

    /// The transactions of an answer, those that Apple added to the receipt last. Before iOS 7 a receipt was one transaction, and the
    /// newest one stood where the list stands.
    static func transactions(of answer: JSONValue) -> [JSONValue] {
        let receipt = answer["receipt"]
        return [receipt, receipt?["in_app"], answer["latest_receipt_info"]].compactMap(\.self).flatMap { list in
            list.kind == .object ? [list] : list.elements
        }
    }

    /// The text of an id, which some tables have as a number.
    static func text(of id: JSONValue) -> String? { id.string ?? id.int64.map { "\($0)" } }

    /// - Throws: `Reason` for one of another app, and for an answer that is not JSON.
    func storedReceipt(_ bytes: [UInt8]) throws(Reason) -> StoredReceipt {
        guard bytes.first == UInt8(ascii: "{") else {
            let contents: UncheckedReceipt
            do throws(ReceiptFault) { contents = try UncheckedReceipt(base64: bytes[...]) } catch {
                return .unusable(error)
            }
            try check(contents.bundleId)
            return .contents(contents)
        }
        guard let answer = try? JSONDocument(bytes).root else { throw Reason("unusable receipt: not JSON") }
        let receipt = answer["receipt"]
        try check(receipt?["bundle_id"]?.string ?? receipt?["bid"]?.string)
        return .answer(answer)
    }

    /// True for the name of another environment.
    func isOther(_ name: String?) -> Bool { name.map { $0 != environment.rawValue } ?? false }

    private func check(_ other: String?) throws(Reason) {
        guard let other, other != bundleId else { return }
        throw Reason("the receipt is of another app: \(other.escaped)")
    }
}
