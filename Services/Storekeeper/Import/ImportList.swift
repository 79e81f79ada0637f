import AppStore
import ArgumentParser
import Foundation
import Operations
import StrictJSON

/// The rows of an import file: one JSON object per line. Pure.
struct ImportList {
    /// A customer, with the purchases that are known.
    struct Row: Sendable, Equatable {
        /// Number of its line, from 1.
        var line: Int
        var customerId: String
        var appAccountToken: UUID?
        /// Of all purchases of the row; a receipt names several.
        var originalTransactionIds: [String] = []
    }

    /// A line that cannot be used, and why; the others are imported.
    struct Fault: Sendable, Equatable {
        var line: Int
        var reason: String
    }

    private(set) var rows: [Row] = []
    private(set) var faults: [Fault] = []

    private static let members: Set = ["customerId", "appAccountToken", "originalTransactionId", "receipt"]

    /// - Parameter bundleId: of the app; a receipt of another is a fault.
    init(_ text: String, of bundleId: String) {
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            guard !line.allSatisfy(\.isWhitespace) else { continue }
            do throws(Reason) {
                rows.append(try Self.row(line, number: index + 1, of: bundleId))
            } catch {
                faults.append(Fault(line: index + 1, reason: error.text))
            }
        }
    }

    private struct Reason: Error {
        var text: String
        init(_ text: String) { self.text = text }
    }

    private static func row(_ line: Substring, number: Int, of bundleId: String) throws(Reason) -> Row {
        guard let json = try? JSONDocument(Array(line.utf8)).root, json.kind == .object else {
            throw Reason("not a JSON object")
        }
        if let other = json.members.map(\.key).first(where: { !members.contains($0) }) {
            throw Reason("unknown member \(other.escaped); known are \(members.sorted().joined(separator: ", "))")
        }
        guard let customer = json["customerId"]?.string, (1...255).contains(customer.utf8.count) else {
            throw Reason("customerId is missing, or does not have 1 to 255 bytes")
        }
        var row = Row(line: number, customerId: customer)
        if let token = json["appAccountToken"] {
            guard let uuid = token.string.flatMap({ UUID(uuidString: $0) }) else {
                throw Reason("appAccountToken is not a UUID")
            }
            row.appAccountToken = uuid
        }
        if let id = json["originalTransactionId"] {
            guard let id = id.string, id.isTransactionId else {
                throw Reason("originalTransactionId is not a text of digits")
            }
            row.originalTransactionIds.append(id)
        }
        if let receipt = json["receipt"] {
            let contents: UncheckedReceipt
            do throws(ReceiptFault) {
                contents = try UncheckedReceipt(base64: (receipt.unescapedBytes ?? [])[...])
            } catch {
                throw Reason("unusable receipt: \(error)")
            }
            guard contents.bundleId ?? bundleId == bundleId else {
                throw Reason("the receipt is of another app: \((contents.bundleId ?? "").escaped)")
            }
            row.originalTransactionIds += contents.originalTransactionIds
        }
        return row
    }
}
