import ArgumentParser
import Commands
import Contracts
import Foundation

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
    private var places: [String: Int] = [:]

    private init(_ shape: ImportShape, _ reader: ImportReader) {
        self.shape = shape
        self.reader = reader
    }

    /// Reads a file as a stream; only what an import needs stays in memory.
    /// - Throws: `ValidationError` where the file is of no known form; `CommandError` where it cannot be read to its end.
    init(_ pieces: FilePieces, columns: ImportColumns? = nil, reader: ImportReader) throws {
        var lines = SeparatedLines()
        var values = SeparatedValues()
        var list: ImportList?
        var header: [String] = []
        var isJSON: Bool?
        var isFirst = true

        func take(_ line: [UInt8], _ number: Int) {
            guard !line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") })
            else { return }
            if list == nil { list = ImportList(.jsonLines, reader) }
            list?.add(reader.entry(ofLine: line), number)
        }
        func take(_ record: SeparatedValues.Record) throws {
            guard let shape = list?.shape else {
                header = record.fields
                list = ImportList(try ImportShape(header: header, columns: columns), reader)
                return
            }
            let entry =
                record.fields.count == header.count
                ? reader.entry(of: ImportRecord(record, header), shape)
                : .fault("\(record.fields.count) fields, where the header has \(header.count)")
            list?.add(entry, record.line)
        }
        do {
            try pieces.read { piece in
                let piece = isFirst ? piece.withoutMark : piece
                isFirst = false
                if isJSON == nil, columns == nil { isJSON = Self.isJSON(piece) }
                if isJSON == true {
                    for (number, line) in try lines.append(piece) { take(line, number) }
                } else {
                    for record in try values.append(piece) { try take(record) }
                }
            }
            if isJSON == true, let (number, line) = lines.finish() { take(line, number) }
            if isJSON != true, let record = try values.finish() { try take(record) }
        } catch let fault as SeparatedValues.Fault {
            throw CommandError("line \(fault.line) of \(pieces.path.escaped): \(fault.reason)")
        }
        guard let list else { throw ValidationError("\(pieces.path.escaped) is empty") }
        self = list
    }

    /// Whether a file begins with a JSON object.
    private static func isJSON(_ piece: Data) -> Bool {
        piece.first { !(UInt8(ascii: " ") == $0 || (9...13).contains($0)) } == UInt8(ascii: "{")
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
                let place = places.updateValue(places[row.customerId] ?? rows.count, forKey: row.customerId)
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
        for alias in other.aliases where !aliases.contains(alias) { aliases.append(alias) }
    }
}

extension Data {
    /// Without the byte order mark with which spreadsheets begin a file.
    fileprivate var withoutMark: Data { starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self }
}
