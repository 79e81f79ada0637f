import Storage

import struct Foundation.UUID

/// A customer on both sides.
struct ComparedCustomer: Sendable {
    var customer: IncumbentCustomer
    /// Nil where no account here has one of the customer's ids, and none of them is a token.
    var account: UUID?
    var lines: [EntitlementStore.Line]
    var records: [IncumbentRecord]

    init(_ customer: IncumbentCustomer, _ account: UUID?, _ lines: [EntitlementStore.Line]) {
        self.customer = customer
        self.account = account
        self.lines = lines
        records = customer.current
    }

    /// Names purchases by their original transaction ids.
    /// - Parameter originals: by the ids of transactions.
    mutating func nameOriginals(_ originals: [String: String]) {
        for index in records.indices { records[index].purchase = records[index].purchase.map { originals[$0] ?? $0 } }
    }
}
