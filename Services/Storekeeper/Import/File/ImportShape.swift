import ArgumentParser
import Foundation
import Operations

/// What the records of an import file are. Pure.
enum ImportShape: Sendable, Equatable {
    /// One JSON object per line.
    case jsonLines
    /// RevenueCat's scheduled data export: one record per transaction.
    case revenueCat
    /// Adapty's daily file: one record per event.
    case adapty
    /// Named columns.
    case mapped(ImportColumns)

    /// The kind of file in comparisons.
    var source: ComparisonSource {
        switch self {
        case .jsonLines: .jsonLines
        case .revenueCat: .revenueCat
        case .adapty: .adapty
        case .mapped: .columns
        }
    }

    /// In the summary.
    var name: String {
        switch self {
        case .jsonLines: "JSON lines"
        case .revenueCat: "RevenueCat's scheduled data export"
        case .adapty: "Adapty's events"
        case .mapped: "separated values with named columns"
        }
    }

    /// - Parameters:
    ///   - header: the first record.
    ///   - columns: what the user says about them; nil where the header is to tell.
    ///   - path: of the file, which may be one of many.
    /// - Throws: `ValidationError` with the columns that the file has.
    init(header: [String], columns: ImportColumns?, of path: String) throws {
        func has(_ names: String...) -> Bool { names.allSatisfy(header.contains) }
        if let columns {
            let missing = columns.names.values.filter { !header.contains($0) }.sorted()
            guard missing.isEmpty else {
                throw ValidationError(
                    "\(path.escaped) has no column \(missing.joined(separator: ", ").escaped); it has \(Self.list(header))"
                )
            }
            // Which of them is meant only the user knows.
            let doubled = columns.names.values.filter { name in header.count { $0 == name } > 1 }.sorted()
            guard doubled.isEmpty else {
                throw ValidationError(
                    "\(path.escaped) has several columns \(doubled.joined(separator: ", ").escaped)")
            }
            self = .mapped(columns)
        } else if has("rc_original_app_user_id", "store", "is_sandbox", "store_transaction_id") {
            self = .revenueCat
        } else if has("profile_id", "customer_user_id", "original_transaction_id", "environment", "store") {
            self = .adapty
        } else {
            throw ValidationError(
                "\(path.escaped) begins neither with a JSON object nor with the header of a known export; name its columns with --map "
                    + "\(ImportColumns.example); it has \(Self.list(header))")
        }
    }

    private static func list(_ header: [String]) -> String {
        let shown = header.prefix(60).map { $0.prefix(60).description.escaped }.joined(separator: ", ")
        return header.count > 60 ? shown + ", …" : shown
    }
}

/// Which column of a file has what. Pure.
struct ImportColumns: ExpressibleByArgument, Sendable, Equatable {
    /// A member of a JSON line.
    enum Member: String, CaseIterable, Sendable {
        case customerId, appAccountToken, originalTransactionId, receipt
        // For compare alone.
        case productId, entitlement, expiresAt
    }

    static let example = "customerId=COLUMN,originalTransactionId=COLUMN"

    private(set) var names: [Member: String] = [:]

    init?(argument: String) {
        for pair in argument.split(separator: ",") {
            guard let sign = pair.firstIndex(of: "="), let member = Member(rawValue: String(pair[..<sign])) else {
                return nil
            }
            let name = String(pair[pair.index(after: sign)...])
            guard !name.isEmpty, names.updateValue(name, forKey: member) == nil else { return nil }
        }
        guard names[.customerId] != nil, names.count > 1 else { return nil }
    }
}
