import AppStore
import Contracts
import Foundation
import Operations
import StrictJSON

/// The statement of a record about access, for a comparison.
enum AccessEntry: Equatable {
    /// Records of one customer.
    case records(customerId: String, aliases: [String], [IncumbentRecord])
    case skipped(ImportList.Skip)
    /// Why it cannot be used.
    case fault(String)
}

extension ImportReader {
    /// Reads the statement of a record about access.
    /// - Parameter line: its number, from 1.
    func access(of record: ImportRecord, line: Int, _ shape: ImportShape) -> AccessEntry {
        do throws(Reason) {
            switch shape {
            case .jsonLines: return .skipped(.withoutAccess)
            case .revenueCat: return try checked(revenueCatAccess(record, line))
            case .adapty: return try checked(adaptyAccess(record, line))
            case .mapped(let columns):
                func text(_ member: ImportColumns.Member) -> String? { columns.names[member].flatMap { record[$0] } }
                let receipt = text(.receipt).map { Array($0.utf8) }
                return try checked(
                    ownAccess(text, entitlements: Self.list(text(.entitlement)), receipt: receipt, line))
            }
        } catch {
            return .fault(error.text)
        }
    }

    /// Reads the statement of a JSON line about access.
    func access(ofLine bytes: [UInt8], line: Int) -> AccessEntry {
        do throws(Reason) {
            let json = try object(ofLine: bytes)
            // Without its texts a line would be left out, or compared without its purchase.
            for member in [ImportColumns.Member.originalTransactionId, .productId, .expiresAt] {
                guard let value = json[member.rawValue], !value.isNull, value.string == nil else { continue }
                throw Reason("\(member.rawValue) is not a text")
            }
            let entitlement = json["entitlement"]
            var names = entitlement?.elements.compactMap(\.string) ?? []
            if names.isEmpty { names = [entitlement?.string].compactMap(\.self) }
            return try checked(
                ownAccess(
                    { json[$0.rawValue]?.string }, entitlements: names,
                    receipt: json["receipt"].map(Self.bytes(ofReceipt:)), line))
        } catch {
            return .fault(error.text)
        }
    }

    /// Only texts that a difference can name: one that Postgres refuses would end the whole comparison.
    private func checked(_ entry: AccessEntry) throws(Reason) -> AccessEntry {
        guard case .records(_, let aliases, let records) = entry else { return entry }
        for alias in aliases { try Self.check(alias, "an id of the customer") }
        for record in records {
            if let product = record.product { try Self.check(product, "the product") }
            for entitlement in record.entitlements { try Self.check(entitlement, "an entitlement") }
        }
        return entry
    }

    private func moment(_ text: String?, _ name: String) throws(Reason) -> Date? {
        guard let text else { return nil }
        guard let date = FileDate.date(text) else {
            throw Reason("\(name) \(text.prefix(40).description.escaped) is no time")
        }
        // Access for life ends in two centuries at RevenueCat.
        return date.timeIntervalSince(now) > Self.longestGrant ? nil : date
    }
}

// MARK: Own tables

extension ImportReader {
    /// - Parameter receipt: of the row; nil where it has none. One in base64 says nothing of renewals since, but of
    ///   which environment the row is.
    private func ownAccess(
        _ text: (ImportColumns.Member) -> String?, entitlements: [String], receipt: [UInt8]?, _ line: Int
    ) throws(Reason) -> AccessEntry {
        let customer = try customerId(text(.customerId))
        let receipt = try receipt.map { (bytes) throws(Reason) in try storedReceipt(bytes) }
        let isOther = isOther(receipt?.environment)
        guard !isOther || environment != .sandbox else { return .skipped(.otherEnvironment) }
        if case .answer(let answer) = receipt {
            let records = try access(ofAnswer: answer, isSandbox: isOther, line)
            if !records.isEmpty { return .records(customerId: customer, aliases: [], records) }
        }
        guard let end = text(.expiresAt) else { return .skipped(.withoutAccess) }
        var record = IncumbentRecord(line: line, store: .appStore)
        record.isSandbox = isOther
        if let id = text(.originalTransactionId) {
            let purchase = try transactionId(id, "originalTransactionId")
            record.purchase = isOther ? nil : purchase
        }
        record.product = text(.productId)
        record.entitlements = entitlements
        record.endsAt = end == "never" ? nil : try moment(end, "expiresAt")
        guard record.product != nil || !entitlements.isEmpty else {
            // Access that is over makes no difference.
            guard record.endsAt.map({ $0 > now }) ?? true else { return .skipped(.withoutAccess) }
            throw Reason("neither productId nor entitlement says to what there is access")
        }
        return .records(customerId: customer, aliases: [], [record])
    }

    /// Reads what a stored answer of verifyReceipt says of access.
    private func access(
        ofAnswer answer: JSONValue, isSandbox: Bool, _ line: Int
    ) throws(Reason) -> [IncumbentRecord] {
        func date(_ object: JSONValue, _ name: String) throws(Reason) -> Date? {
            guard let value = object[name], !value.isNull, value.string != "" else { return nil }
            // No further from 1970 than JavaScript's dates, and never a text such as "nan".
            guard let milliseconds = value.string.flatMap(Double.init) ?? value.double,
                milliseconds.magnitude <= 8.64e15
            else { throw Reason("\(name) is no time") }
            return Date(timeIntervalSince1970: milliseconds / 1000)
        }
        /// Before iOS 7 the member had milliseconds that now has a text for people.
        func expiry(_ transaction: JSONValue) throws(Reason) -> Date? {
            if let date = try date(transaction, "expires_date_ms") { return date }
            let isText = transaction["expires_date"]?.string.map { Double($0) == nil } ?? false
            return isText ? nil : try date(transaction, "expires_date")
        }
        // The newest of several answers about a customer counts.
        let askedAt = try answer["receipt"].flatMap { (receipt) throws(Reason) in try date(receipt, "request_date_ms") }
        var records: [IncumbentRecord] = []
        var places: [String: Int] = [:]
        for transaction in Self.transactions(of: answer) {
            guard let id = transaction["original_transaction_id"] else { continue }
            var record = IncumbentRecord(line: line, store: .appStore)
            let purchase = try transactionId(Self.text(of: id), "original_transaction_id")
            record.purchase = isSandbox ? nil : purchase
            record.isSandbox = isSandbox
            record.identity = transaction["transaction_id"].flatMap(Self.text) ?? ""
            record.product = transaction["product_id"]?.string
            record.startsAt = try date(transaction, "purchase_date_ms")
            record.version = askedAt
            record.endsAt = try expiry(transaction)
            record.refundedAt = try date(transaction, "cancellation_date_ms")
            record.isShared = transaction["in_app_ownership_type"]?.string == "FAMILY_SHARED"
            if !record.identity.isEmpty, let place = places.updateValue(records.count, forKey: record.identity) {
                places[record.identity] = place
                records[place] = record
            } else {
                records.append(record)
            }
        }
        for renewal in answer["pending_renewal_info"]?.elements ?? [] {
            guard let grace = try date(renewal, "grace_period_expires_date_ms"),
                let id = renewal["original_transaction_id"].flatMap(Self.text)
            else { continue }
            // The period that was to be renewed goes on, not those before it, of other products perhaps.
            let periods = records.indices.filter { records[$0].purchase == id && records[$0].endsAt != nil }
            func end(_ index: Int) -> Date { records[index].endsAt ?? .distantPast }
            guard let newest = periods.max(by: { end($0) < end($1) }), grace > end(newest) else { continue }
            records[newest].graceEndsAt = grace
            records[newest].endsAt = grace
        }
        return records
    }
}

// MARK: Exports

extension ImportReader {
    /// https://www.revenuecat.com/docs/integrations/scheduled-data-exports
    private func revenueCatAccess(_ fields: ImportRecord, _ line: Int) throws(Reason) -> AccessEntry {
        let isSandbox = Self.isOfSandbox(fields)
        guard isSandbox || environment != .sandbox else { return .skipped(.otherEnvironment) }
        let (customer, aliases) = try revenueCatCustomer(fields)
        // What an API answered of a purchase that is not a subscription has no end, and its file has the column.
        if !fields.hasColumn("end_time") || !fields.hasColumn("refunded_at") { try Self.checkColumns(of: fields) }
        let store: IncumbentRecord.Store
        switch fields["store"] {
        case "app_store", "mac_app_store": store = .appStore
        case "promotional": store = .byHand
        default: store = .other
        }
        var record = IncumbentRecord(line: line, store: store)
        record.isSandbox = isSandbox && environment != .sandbox
        record.identity = fields["store_transaction_id"] ?? ""
        if store == .appStore, !record.isSandbox {
            record.purchase = try (fields["original_store_transaction_id"] ?? fields["store_transaction_id"]).map {
                (id) throws(Reason) in try transactionId(id, "original_store_transaction_id")
            }
        }
        record.product = fields["product_identifier"]
        record.entitlements = Self.list(fields["entitlement_identifiers"])
        record.startsAt = try moment(fields["start_time"], "start_time")
        record.graceEndsAt = try moment(fields["grace_period_end_time"], "grace_period_end_time")
        let end = try moment(fields["end_time"], "end_time")
        record.endsAt =
            if let effective = fields["effective_end_time"] {
                try moment(effective, "effective_end_time")
            } else {
                [end, record.graceEndsAt].compactMap(\.self).max()
            }
        record.refundedAt = try moment(fields["refunded_at"], "refunded_at")
        record.isShared = fields["ownership_type"] == "FAMILY_SHARED"
        // Access until a moment is compared also where nothing says of which purchase.
        guard store != .appStore || record.isSandbox || record.purchase != nil || record.endsAt != nil else {
            return .skipped(.withoutPurchase)
        }
        return .records(customerId: customer, aliases: aliases, [record])
    }

    /// https://adapty.io/docs/s3-exports
    private func adaptyAccess(_ fields: ImportRecord, _ line: Int) throws(Reason) -> AccessEntry {
        let isSandbox = fields["environment"] != StoreEnvironment.production.rawValue
        guard isSandbox || environment != .sandbox else { return .skipped(.otherEnvironment) }
        let purchase = fields["original_transaction_id"]
        guard purchase != nil || fields["subscription_expires_at"] != nil else { return .skipped(.withoutPurchase) }
        // Without a developer's id Adapty's own names the customer.
        let ids = [fields["customer_user_id"], fields["profile_id"]].compactMap(\.self)
        let customer = try customerId(ids.first)
        let store: IncumbentRecord.Store = fields["store"] == "app_store" ? .appStore : .other
        var record = IncumbentRecord(line: line, store: store)
        record.isSandbox = isSandbox && environment != .sandbox
        if store == .appStore, !record.isSandbox {
            record.purchase = try purchase.map { (id) throws(Reason) in
                try transactionId(id, "original_transaction_id")
            }
        }
        let event = fields["event_type"] ?? ""
        // A file has events: of each purchase the newest says how long the access is.
        record.identity = purchase ?? ""
        record.version = try moment(fields["event_datetime"], "event_datetime")
        // What happened later says nothing of the moment, but that a subscription that was renewed was there: an
        // answer of Adapty's API has nothing else about it. An earlier event counts before that one.
        if let happenedAt = record.version, happenedAt > now {
            guard event == "subscription_renewed" else { return .skipped(.withoutAccess) }
            record.version = nil
        }
        record.product = fields["product_id"]
        record.endsAt = try moment(fields["subscription_expires_at"], "subscription_expires_at")
        guard record.endsAt != nil || event.hasPrefix("non_subscription") || event.hasSuffix("refunded") else {
            return .skipped(.withoutAccess)
        }
        if event.hasSuffix("refunded") { record.refundedAt = record.version ?? now }
        if event == "entered_grace_period" { record.graceEndsAt = record.endsAt }
        return .records(customerId: customer, aliases: Array(ids.dropFirst()), [record])
    }
}
