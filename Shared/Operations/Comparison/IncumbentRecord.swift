import struct Foundation.Date

/// The statement of one record of another system's export about a customer's access.
package struct IncumbentRecord: Sendable, Equatable {
    /// The store in which the access was bought.
    package enum Store: UInt8, Sendable {
        case appStore
        case other
        /// No store: it was given by hand.
        case byHand
    }

    /// Number of its line, from 1.
    package var line: Int
    package var store: Store
    /// True for a record of the sandbox, in a comparison of another environment.
    package var isSandbox = false
    /// The identity of what the record is about: of several with the same identity the newest counts. Empty: each counts.
    package var identity = ""
    /// Orders records of one identity; those with the same, or none, are in the order of the file.
    package var version: Date?
    /// The original transaction id; nil where no purchase of the App Store is named.
    package var purchase: String?
    package var product: String?
    /// The entitlements as the other system names them; empty: what the product gives.
    package var entitlements: [String] = []
    /// Nil where the record does not say.
    package var startsAt: Date?
    /// The end of the access, with grace periods and refunds; nil where it has none.
    package var endsAt: Date?
    package var graceEndsAt: Date?
    package var refundedAt: Date?
    /// True where the customer has it by family sharing.
    package var isShared = false

    package init(line: Int, store: Store) {
        self.line = line
        self.store = store
    }
}

/// A customer of another system, with all its records.
package struct IncumbentCustomer: Sendable, Equatable {
    package var id: String
    /// Other ids of the customer.
    package var aliases: [String]
    package var records: [IncumbentRecord]

    package init(id: String, aliases: [String] = [], records: [IncumbentRecord]) {
        self.id = id
        self.aliases = aliases
        self.records = records
    }

    /// The records that count: of each identity the newest.
    var current: [IncumbentRecord] {
        guard records.count > 1 else { return records }
        var places: [String: Int] = [:]
        var current: [IncumbentRecord] = []
        for record in records {
            guard !record.identity.isEmpty, let place = places[record.identity] else {
                if !record.identity.isEmpty { places[record.identity] = current.count }
                current.append(record)
                continue
            }
            if record.version ?? .distantPast >= current[place].version ?? .distantPast { current[place] = record }
        }
        return current
    }
}
