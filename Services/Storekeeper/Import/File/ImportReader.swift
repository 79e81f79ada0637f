import AppStore
import Contracts
import Foundation
import Operations
import StrictJSON

/// One record of separated values, by the names of its columns.
struct ImportRecord {
    private let fields: [String: String]

    init(_ record: SeparatedValues.Record, _ header: [String]) {
        fields = Dictionary(zip(header, record.fields)) { first, _ in first }
    }

    /// Whether there is such a column.
    func hasColumn(_ name: String) -> Bool { fields[name] != nil }

    /// The column's text; nil where there is no such column, or nothing in it. Postgres and MySQL write `\N` for nothing.
    subscript(_ name: String) -> String? {
        fields[name].flatMap { $0.isEmpty || ["null", "NULL", "\\N"].contains($0) ? nil : $0 }
    }
}

/// What the records of an import file say, by their shape. Pure.
///
/// Columns that are not named here are not read: such files hold e-mail addresses and more.
struct ImportReader: Sendable {
    /// The app; a receipt of another is a fault.
    var bundleId: String
    /// Records of another environment are skipped.
    var environment: StoreEnvironment
    /// Whether access by hand becomes grants.
    var takesGrants = false
    /// Grants that end before are skipped.
    var now: Date

    typealias Entry = ImportList.Entry
    typealias Row = ImportList.Row

    /// Why a record cannot be used.
    struct Reason: Error {
        var text: String
        init(_ text: String) { self.text = text }
    }

    /// What a record says.
    func entry(of record: ImportRecord, _ shape: ImportShape) -> Entry {
        do throws(Reason) {
            switch shape {
            case .jsonLines: return .skipped(.withoutPurchase)
            case .revenueCat: return try revenueCat(record)
            case .adapty: return try adapty(record)
            case .mapped(let columns): return try mapped(record, columns)
            }
        } catch {
            return .fault(error.text)
        }
    }
}

// MARK: JSON lines

extension ImportReader {
    private static let members = Set(ImportColumns.Member.allCases.map(\.rawValue))

    /// What a JSON line says.
    func entry(ofLine line: [UInt8]) -> Entry {
        do throws(Reason) { return try row(ofLine: line) } catch { return .fault(error.text) }
    }

    /// The object of a line, with known members alone.
    func object(ofLine line: [UInt8]) throws(Reason) -> JSONValue {
        guard let json = try? JSONDocument(line).root, json.kind == .object else { throw Reason("not a JSON object") }
        if let other = json.members.map(\.key).first(where: { !Self.members.contains($0) }) {
            throw Reason("unknown member \(other.escaped); known are \(Self.members.sorted().joined(separator: ", "))")
        }
        return json
    }

    private func row(ofLine line: [UInt8]) throws(Reason) -> Entry {
        let json = try object(ofLine: line)
        func member(_ name: String) -> JSONValue? { json[name].flatMap { $0.isNull ? nil : $0 } }
        var row = Row(line: 0, customerId: try customerId(json["customerId"]?.string))
        if let value = member("appAccountToken") { row.appAccountToken = try token(value.string) }
        if let id = member("originalTransactionId") {
            row.originalTransactionIds.append(try transactionId(id.string, "originalTransactionId"))
        }
        return try entry(row, receipt: member("receipt").map(Self.bytes(ofReceipt:)))
    }

    /// A row with the purchases of its receipt.
    private func entry(_ row: Row, receipt: [UInt8]?) throws(Reason) -> Entry {
        guard let receipt else { return .row(row) }
        guard let ids = try purchases(ofReceipt: receipt) else {
            // A customer who once tested has bought since, perhaps: Apple knows whether the row's own purchase exists.
            let isNamed = row.appAccountToken != nil || !row.originalTransactionIds.isEmpty
            return isNamed ? .row(row) : .skipped(.otherEnvironment)
        }
        var row = row
        for id in ids where !row.originalTransactionIds.contains(id) { row.originalTransactionIds.append(id) }
        return .row(row)
    }

    /// A receipt in base64, or a stored answer as text or as an object.
    static func bytes(ofReceipt receipt: JSONValue) -> [UInt8] {
        receipt.kind == .object ? Array(receipt.rawBytes) : receipt.unescapedBytes ?? []
    }

    func customerId(_ text: String?) throws(Reason) -> String {
        guard let text, (1...255).contains(text.utf8.count) else {
            throw Reason("customerId is missing, or does not have 1 to 255 bytes")
        }
        try Self.check(text, "customerId")
        return text
    }

    /// Postgres refuses a NUL, and with it all customers of the statement. Bytes that are no UTF-8 have become U+FFFD: customers whose ids
    /// differ in them alone would be one.
    static func check(_ text: String, _ name: String) throws(Reason) {
        guard !text.utf8.contains(0) else { throw Reason("\(name) has a NUL character") }
        guard !text.unicodeScalars.contains(where: { $0.value == 0xFFFD }) else {
            throw Reason("\(name) is not UTF-8: write the file in UTF-8, as iconv does")
        }
    }

    private func token(_ text: String?) throws(Reason) -> UUID {
        guard let uuid = text.flatMap({ UUID(uuidString: $0) }) else { throw Reason("appAccountToken is not a UUID") }
        return uuid
    }

    func transactionId(_ text: String?, _ name: String) throws(Reason) -> String {
        guard let text, text.isTransactionId else { throw Reason("\(name) is not a text of digits") }
        return text
    }
}

// MARK: Separated values

extension ImportReader {
    private func mapped(_ record: ImportRecord, _ columns: ImportColumns) throws(Reason) -> Entry {
        func text(_ member: ImportColumns.Member) -> String? { columns.names[member].flatMap { record[$0] } }
        var row = Row(line: 0, customerId: try customerId(text(.customerId)))
        if let text = text(.appAccountToken) { row.appAccountToken = try token(text) }
        if let id = text(.originalTransactionId) {
            row.originalTransactionIds.append(try transactionId(id, "originalTransactionId"))
        }
        return try entry(row, receipt: text(.receipt).map { Array($0.utf8) })
    }

    /// https://www.revenuecat.com/docs/integrations/scheduled-data-exports
    private func revenueCat(_ record: ImportRecord) throws(Reason) -> Entry {
        guard Self.isOfSandbox(record) == (environment == .sandbox) else { return .skipped(.otherEnvironment) }
        let (id, aliases) = try revenueCatCustomer(record)
        var row = Row(line: 0, customerId: id)
        row.aliases = aliases
        switch record["store"] {
        case "app_store", "mac_app_store":
            guard let id = record["original_store_transaction_id"] ?? record["store_transaction_id"] else {
                return .skipped(.withoutPurchase)
            }
            row.originalTransactionIds = [try transactionId(id, "original_store_transaction_id")]
        case "promotional":
            if takesGrants { try Self.checkColumns(of: record) }
            let grants = try revenueCatGrants(record)
            guard takesGrants, !grants.isEmpty else { return .skipped(.grant) }
            row.grants = grants
        default: return .skipped(.otherStore)
        }
        return .row(row)
    }

    /// Its users choose the columns: without those that say when access ends, all of it would be without an end.
    static func checkColumns(of record: ImportRecord) throws(Reason) {
        // RevenueCat leaves end_time empty where nothing renews.
        var missing = record.hasColumn("refunded_at") ? [] : ["refunded_at"]
        if !record.hasColumn("effective_end_time"), record["end_time"] == nil { missing.append("effective_end_time") }
        guard missing.isEmpty else {
            throw Reason("the file does not say when access ends; export it with \(missing.joined(separator: " and "))")
        }
    }

    static func isOfSandbox(_ record: ImportRecord) -> Bool {
        record["is_sandbox"].map { ["true", "t", "1"].contains($0.lowercased()) } ?? false
    }

    /// The customer's id, and others of the record.
    func revenueCatCustomer(_ record: ImportRecord) throws(Reason) -> (id: String, aliases: [String]) {
        // An id that RevenueCat made is known to its SDK alone; the other one is the developer's.
        let original = record["rc_original_app_user_id"]
        let latest = record["rc_last_seen_app_user_id_alias"]
        let ids = [latest, original].compactMap(\.self)
        let id = try customerId(ids.first { !Self.isAnonymous($0) } ?? ids.first)
        let aliases = ids.filter { $0.exact != id.exact }
        for alias in aliases { try Self.check(alias, "an id of the customer") }
        return (id, aliases)
    }

    private func revenueCatGrants(_ record: ImportRecord) throws(Reason) -> [ImportList.Grant] {
        guard record["refunded_at"] == nil else { return [] }
        var end: Date?
        if let text = record["effective_end_time"] ?? record["end_time"] {
            guard let date = FileDate.date(text) else {
                throw Reason("effective_end_time \(text.prefix(40).description.escaped) is no time")
            }
            guard date > now else { return [] }
            // RevenueCat has access for life end in two centuries.
            end = date.timeIntervalSince(now) > Self.longestGrant ? nil : date
        }
        let entitlements = Self.list(record["entitlement_identifiers"])
        for entitlement in entitlements { try Self.check(entitlement, "entitlement_identifiers") }
        return entitlements.map { ImportList.Grant(entitlement: $0, endsAt: end) }
    }

    static let longestGrant = 50 * 365.25 * 86_400

    /// https://adapty.io/docs/s3-exports
    private func adapty(_ record: ImportRecord) throws(Reason) -> Entry {
        guard record["store"] == "app_store" else { return .skipped(.otherStore) }
        guard record["environment"] == environment.rawValue else { return .skipped(.otherEnvironment) }
        guard let purchase = record["original_transaction_id"] else { return .skipped(.withoutPurchase) }
        // Without a developer's id Adapty's own names the customer.
        let ids = [record["customer_user_id"], record["profile_id"]].compactMap(\.self)
        var row = Row(line: 0, customerId: try customerId(ids.first))
        row.originalTransactionIds = [try transactionId(purchase, "original_transaction_id")]
        row.isAnonymous = record["customer_user_id"] == nil
        row.aliases = Array(ids.dropFirst())
        for alias in row.aliases { try Self.check(alias, "profile_id") }
        return .row(row)
    }

    static func isAnonymous(_ id: String) -> Bool { id.hasPrefix("$RCAnonymousID:") }

    /// A JSON array of texts, or texts with commas between them.
    static func list(_ text: String?) -> [String] {
        guard let text else { return [] }
        if let array = try? JSONDocument(Array(text.utf8)).root, array.kind == .array {
            return array.elements.compactMap(\.string)
        }
        return text.split(separator: ",").map { part in
            String(part.drop { " [{\"'".contains($0) }.reversed().drop { " ]}\"'".contains($0) }.reversed())
        }.filter { !$0.isEmpty }
    }
}
