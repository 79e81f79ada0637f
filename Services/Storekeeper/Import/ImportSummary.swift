import Foundation
import Operations

/// What became of one line of an import.
struct ImportResult: Encodable, Sendable, Equatable {
    var line: Int
    var customerId: String?
    /// `created`, `known`, `otherAccount`, `conflict`, `erased`, `invalid` or `failed`.
    var outcome: String
    var reason: String?
    /// Other ids that the file has for the customer.
    var aliases: [String]?
}

extension ImportResult {
    init(_ row: ImportList.Row, _ mapped: ImportRun.Mapped) {
        line = row.line
        customerId = row.customerId
        outcome = mapped.outcome.rawValue
        aliases = row.aliases.isEmpty ? nil : row.aliases
        switch mapped.outcome {
        case .conflict: reason = "the customer has another appAccountToken, or this token belongs to another customer"
        case .erased:
            reason =
                "the account was erased or detached at the customer's wish: take the row out of the file, or give the customer "
                + "another appAccountToken"
        case .otherAccount: reason = Self.sentence(mapped.withheld)
        case .created, .known, .invalid: break
        }
    }

    private static func sentence(_ withheld: [String]) -> String {
        "the customer is stored; another account has \(withheld.joined(separator: ", ")): storekeeper account or customers shared "
            + "shows it, and customers choose gives it to this one"
    }

    /// With what Apple's answers said, by line: failures, and purchases for which Apple names another account.
    func joined(_ fetched: ImportFetched) -> ImportResult {
        var result = self
        if let reason = fetched.failures[line] {
            (result.outcome, result.reason) = ("failed", reason)
        } else if let withheld = fetched.withheld[line], ["created", "known"].contains(outcome) {
            (result.outcome, result.reason) = ("otherAccount", Self.sentence(withheld))
        }
        return result
    }

    /// The grants of the row could not be given.
    mutating func fail(_ reason: String) { (outcome, self.reason) = ("failed", reason) }
}

/// What Apple's answers said about rows, by line.
struct ImportFetched: Sendable {
    /// Why Apple could not be asked about a purchase.
    var failures: [Int: String] = [:]
    /// The purchases for which Apple names another account.
    var withheld: [Int: [String]] = [:]
    /// Number of purchases of stored customers.
    var purchases = 0
    /// Of those, fetched by an earlier run.
    var fetchedBefore = 0
    /// Sent to the pipeline.
    var signedObjects = 0
}

/// The result of an import, or of its dry run.
struct ImportSummary: Encodable, Sendable {
    var dryRun: Bool
    var file: ImportContents
    /// Rows by outcome.
    var outcomes: [String: Int] = [:]
    /// Purchases that the rows name.
    var purchases = 0
    /// Of those, fetched by an earlier run.
    var fetchedBefore = 0
    /// Sent to the pipeline by this run.
    var signedObjects = 0
    /// Grants that this run gave.
    var grantsGiven = 0
    /// The sample of a dry run; nil for an import.
    var sample: ImportSample?

    init(dryRun: Bool, _ file: ImportContents, _ results: [ImportResult]) {
        self.dryRun = dryRun
        self.file = file
        purchases = file.purchases
        count(results)
    }

    mutating func count(_ results: [ImportResult]) {
        outcomes = results.reduce(into: [:]) { $0[$1.outcome, default: 0] += 1 }
    }

    /// Whether every row is imported.
    var isWhole: Bool { outcomes.keys.allSatisfy { $0 == "created" || $0 == "known" } }

    /// As text.
    var sentence: String {
        let rows = outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        let outcomes = "Rows: \(rows.isEmpty ? "none" : rows)."
        guard !dryRun else { return "Nothing was changed. \(outcomes) \(sample?.sentence ?? "")".trimmed }
        return
            "\(outcomes) \(purchases.counted("purchase")), \(signedObjects.counted("signed object")) sent to the pipeline."
            + (grantsGiven == 0 ? "" : " \(grantsGiven.counted("grant")) given.")
            + (fetchedBefore == 0 ? "" : " \(fetchedBefore.counted("purchase")) fetched before.")
    }
}

extension String {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespaces) }
}
