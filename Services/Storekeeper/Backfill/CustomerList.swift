import AppStore
import ArgumentParser

/// The customers of a backfill file, each once, in order.
struct CustomerList {
    /// The customer of one line.
    struct Customer: Hashable {
        /// An original transaction id.
        var id: String
        /// The app of the receipt.
        var bundleId: String?
        /// The environment of the receipt.
        var environment: AppStoreEnvironment?
    }

    /// A customer of another app or environment: Apple would not know the id where it is asked.
    struct Stranger: Equatable {
        var id: String
        /// What the receipt is of, for the warning.
        var place: String
    }

    private(set) var customers: [Customer] = []
    /// Unusable receipts by line number; the other lines are imported.
    private(set) var faults: [(line: Int, fault: ReceiptFault)] = []

    /// Shorter than any receipt, longer than anything else in such files.
    private static let shortestReceipt = 200

    /// - Throws: `ValidationError` with the first lines that are neither transaction ids nor receipts: a wrong file
    ///   must not become a thousand requests.
    init(_ text: String) throws {
        var seen: Set<String> = []
        var problems: [String] = []
        // The line end of Windows is one character.
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            // A byte order mark stands within where files were put together.
            let word = line.prefix { $0 != "#" }.filter { !$0.isWhitespace && $0 != "\u{FEFF}" }
            guard !word.isEmpty else { continue }
            if word.utf8.count <= 30, word.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
                if seen.insert(word).inserted { customers.append(Customer(id: word)) }
            } else if word.utf8.count >= Self.shortestReceipt {
                do throws(ReceiptFault) {
                    let receipt = try UncheckedReceipt(base64: Array(word.utf8)[...])
                    // All purchases of a receipt are of one customer; any of them returns the customer's whole history.
                    let id = receipt.originalTransactionIds[0]
                    guard seen.isDisjoint(with: receipt.originalTransactionIds) else { continue }
                    seen.formUnion(receipt.originalTransactionIds)
                    customers.append(
                        Customer(id: id, bundleId: receipt.bundleId, environment: receipt.environment))
                } catch {
                    faults.append((number + 1, error))
                }
            } else {
                problems.append("line \(number + 1): \(word.prefix(40).description.escaped)")
            }
        }
        guard problems.isEmpty else {
            throw ValidationError(
                "\(problems.count.counted("line is", "lines are")) neither an original transaction id (digits) nor a "
                    + "receipt (base64): "
                    + problems.prefix(3).joined(separator: "; "))
        }
        guard !customers.isEmpty || !faults.isEmpty else {
            throw ValidationError("the file has no original transaction ids and no receipts")
        }
    }

    /// The ids that Apple is asked about for the app and environment, and the customers whose receipts say another
    /// one. A list has testers and Apple's reviewers among the customers.
    func parted(
        for bundleId: String, in environment: AppStoreEnvironment
    ) -> (ids: [String], strangers: [Stranger]) {
        var (ids, strangers): ([String], [Stranger]) = ([], [])
        for customer in customers {
            if let other = customer.bundleId, other != bundleId {
                strangers.append(Stranger(id: customer.id, place: "of another app: \(other.escaped)"))
            } else if let other = customer.environment, other != environment {
                strangers.append(Stranger(id: customer.id, place: "of another environment: \(other.rawValue)"))
            } else {
                ids.append(customer.id)
            }
        }
        return (ids, strangers)
    }
}
