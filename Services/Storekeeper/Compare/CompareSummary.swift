import Commands
import Foundation
import Operations
import Storage

/// The result of a comparison.
struct CompareSummary: Encodable, Sendable {
    var comparison: String
    var app: String
    var environment: String
    var source: String
    var takenAt: Date
    var records: Int
    /// Lines that cannot be used.
    var invalid: Int
    /// Records that are left out, by reason.
    var skipped: [String: Int]
    var customers: Int
    /// Customers with access here whom the file does not name.
    var notInFile: Int
    /// Customers with access at that moment.
    var withAccessHere: Int
    var withAccessThere: Int
    /// Entitlements with access on a side.
    var entitlements: Int
    var equal: Int
    /// Differences by cause.
    var causes: [String: Int]
    var unexplained: Int
    /// The first of the lines that cannot be used.
    var faults: [CompareContents.Fault]

    init(_ comparison: Comparison, faults: [CompareContents.Fault]) {
        self.comparison = comparison.id.uuidString.lowercased()
        app = comparison.bundleId
        environment = comparison.environment.rawValue
        source = comparison.source
        takenAt = comparison.takenAt
        let counts = comparison.counts
        records = counts.records
        invalid = counts.invalid
        skipped = counts.skipped
        customers = counts.customers
        notInFile = counts.notInFile
        withAccessHere = counts.withAccessHere
        withAccessThere = counts.withAccessThere
        entitlements = counts.entitlements
        equal = counts.equal
        causes = counts.causes
        unexplained = counts.unexplained
        self.faults = faults
    }

    /// True where every line was compared, and nothing is unexplained.
    var isExplained: Bool { invalid == 0 && unexplained == 0 }

    /// Sentences for the operator, a line each.
    var lines: [String] {
        var lines = [
            "\(records.counted("record")), \(customers.counted("customer")); with access \(withAccessThere) there, "
                + "\(withAccessHere) here, \(notInFile) of them not in the file.",
            "\(entitlements.counted("entitlement")) with access: \(equal) equal, \(entitlements - equal) not.",
        ]
        let left = skipped.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        if !left.isEmpty { lines.append("Records left out: \(left.joined(separator: ", ")).") }
        if invalid > 0 { lines.append("Lines that cannot be used: \(invalid).") }
        lines += causes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "  \($0.value) \($0.key)" }
        return lines
    }
}
