import AppStore
import ArgumentParser

/// The customers of a backfill, each once, in their order.
struct CustomerList {
    /// One line's customer.
    struct Customer: Hashable {
        /// An original transaction id.
        var id: String
        /// The app that a receipt says it is of.
        var bundleId: String?
    }

    private(set) var customers: [Customer] = []
    /// Receipts that cannot be used, by the number of their line: the others are not held up by them.
    private(set) var faults: [(line: Int, fault: ReceiptFault)] = []

    /// Shorter than any receipt, and longer than what else such files hold.
    private static let shortestReceipt = 200

    /// - Throws: `ValidationError` naming the first lines that are neither transaction ids nor look like receipts: a file of
    ///   something else must not become a thousand questions.
    init(_ text: String) throws {
        var seen: Set<String> = []
        var problems: [String] = []
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let word = line.prefix { $0 != "#" }.filter { !$0.isWhitespace }
            guard !word.isEmpty else { continue }
            if word.utf8.count <= 30, word.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
                if seen.insert(word).inserted { customers.append(Customer(id: word)) }
            } else if word.utf8.count >= Self.shortestReceipt {
                do throws(ReceiptFault) {
                    let receipt = try UncheckedReceipt(base64: Array(word.utf8)[...])
                    // All its purchases are of one customer, of whom Apple tells everything by any of them.
                    let id = receipt.originalTransactionIds[0]
                    guard seen.isDisjoint(with: receipt.originalTransactionIds) else { continue }
                    seen.formUnion(receipt.originalTransactionIds)
                    customers.append(Customer(id: id, bundleId: receipt.bundleId))
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
            throw ValidationError("the file holds no original transaction ids and no receipts")
        }
    }
}
