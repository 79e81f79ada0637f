import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations

/// The customers of an import file, in the order of their first records.
struct ImportList {
    /// A customer, with the purchases that are known.
    struct Row: Sendable, Equatable {
        /// Number of the first line about it, from 1.
        var line: Int
        var customerId: String
        var appAccountToken: UUID?
        /// The ids of all purchases of the row, each once; a receipt names several.
        var originalTransactionIds: [String] = []
        /// Access that was given by hand and has not ended.
        var grants: [Grant] = []
        /// Other ids that the file has for the customer.
        var aliases: [String] = []
        /// True for Adapty's own id of a customer, where an event has no other.
        var isAnonymous = false
    }

    /// Access that was given by hand.
    struct Grant: Sendable, Equatable {
        var entitlement: String
        /// Nil where it does not end.
        var endsAt: Date?
    }

    /// A line that cannot be used, and why; the others are imported.
    struct Fault: Sendable, Equatable {
        var line: Int
        var reason: String
    }

    /// Why a record is left out.
    enum Skip: String, Sendable {
        case otherStore
        /// The record is of another environment than the command's.
        case otherEnvironment
        /// Access by hand, where it ended or was taken back, or no grants are imported.
        case grant
        /// A record without a purchase.
        case withoutPurchase
        /// A record that says nothing about access at the moment of the file, where it is compared.
        case withoutAccess
    }

    /// What one record says.
    enum Entry: Equatable {
        case row(Row)
        case skipped(Skip)
        /// Why it cannot be used.
        case fault(String)
    }

    let shape: ImportShape
    /// Lines that are not empty, or records of separated values without the header.
    private(set) var records = 0
    private(set) var rows: [Row] = []
    private(set) var faults: [Fault] = []
    private(set) var skipped: [Skip: Int] = [:]

    private let reader: ImportReader
    /// Where the customers of a file with several records of one customer are, by their ids.
    private var places: [[UInt8]: Int] = [:]

    private init(_ shape: ImportShape, _ reader: ImportReader) {
        self.shape = shape
        self.reader = reader
    }

    /// Reads a file as a stream; only what an import needs stays in memory.
    /// - Throws: `ValidationError` where the file is of no known form; `CommandError` where it cannot be read to its end.
    init(_ pieces: FilePieces, columns: ImportColumns? = nil, reader: ImportReader) throws {
        var list: ImportList?
        try ImportFile(pieces: pieces, columns: columns).read { shape in
            list = ImportList(shape, reader)
        } each: { content, line in
            guard let shape = list?.shape else { return }
            switch content {
            case .line(let bytes): list?.add(reader.entry(ofLine: bytes), line)
            case .record(let record): list?.add(reader.entry(of: record, shape), line)
            case .malformed(let reason): list?.add(.fault(reason), line)
            }
        }
        guard var list else { throw ValidationError("\(pieces.path.escaped) is empty") }
        list.joinAnonymous()
        self = list
    }

    /// Adds what Adapty says under its own id to the customer for whom other events have both: an app may sell before it knows the
    /// customer, and that row would claim the purchase.
    private mutating func joinAnonymous() {
        var named: [[UInt8]: Int] = [:]
        for (place, row) in rows.enumerated() where !row.isAnonymous {
            for alias in row.aliases where named[alias.exact] == nil { named[alias.exact] = place }
        }
        for row in rows where row.isAnonymous {
            guard let place = named[row.customerId.exact] else { continue }
            rows[place].merge(row)
            rows[place].line = min(rows[place].line, row.line)
        }
        rows.removeAll { $0.isAnonymous && named[$0.customerId.exact] != nil }
    }

    private mutating func add(_ entry: Entry, _ line: Int) {
        records += 1
        switch entry {
        case .fault(let reason): faults.append(Fault(line: line, reason: reason))
        case .skipped(let skip): skipped[skip, default: 0] += 1
        case .row(var row):
            row.line = line
            // Each line of the own format has an outcome of its own.
            guard shape != .jsonLines,
                let place = places.updateValue(
                    places[row.customerId.exact] ?? rows.count, forKey: row.customerId.exact)
            else { return rows.append(row) }
            if let token = row.appAccountToken, let other = rows[place].appAccountToken, token != other {
                return faults.append(
                    Fault(
                        line: line,
                        reason: "another appAccountToken than in line \(rows[place].line) of the same customer"))
            }
            rows[place].merge(row)
        }
    }
}

extension ImportList.Row {
    /// Adds what another record says of the same customer.
    mutating func merge(_ other: Self) {
        appAccountToken = appAccountToken ?? other.appAccountToken
        for id in other.originalTransactionIds where !originalTransactionIds.contains(id) {
            originalTransactionIds.append(id)
        }
        for grant in other.grants where !grants.contains(grant) { grants.append(grant) }
        for alias in other.aliases where !aliases.contains(where: { $0.exact == alias.exact }) { aliases.append(alias) }
    }
}
