import struct Foundation.UUID

/// The customers whom an import would have stored when it comes to a row: of two rows of a file the first one is stored, and decides about
/// the other. The database says it only where the import runs. Pure.
struct ForeseenCustomers {
    /// The accounts of new customers, by the customers' ids; nil where any token will do.
    private var accounts: [[UInt8]: UUID?] = [:]
    /// The new customers who have a token.
    private var holders: [UUID: [UInt8]] = [:]
    /// The customers who name a purchase first.
    private var claimants: [String: [UInt8]] = [:]

    /// Adds a row.
    /// - Parameter mapped: what becomes of it by the database, and then after the rows before it, too.
    /// - Returns: its purchases that rows of other customers named before.
    mutating func add(_ row: ImportList.Row, _ mapped: inout ImportRun.Mapped) -> [String] {
        let customer = row.customerId.exact
        if mapped.isNew {
            let isPossible: Bool
            if let account = accounts[customer] {
                isPossible = row.appAccountToken == nil || row.appAccountToken == account
                mapped.appAccountToken = account
                if mapped.outcome == .created { mapped.outcome = .known }
            } else {
                isPossible = mapped.appAccountToken.map { holders[$0] == nil } ?? true
            }
            guard isPossible else {
                mapped = ImportRun.Mapped(outcome: .conflict)
                return []
            }
            accounts.updateValue(mapped.appAccountToken, forKey: customer)
            if let account = mapped.appAccountToken { holders[account] = customer }
        }
        return mapped.purchases.filter { purchase in
            guard !mapped.withheld.contains(purchase) else { return false }
            let claimant = claimants[purchase] ?? customer
            claimants[purchase] = claimant
            return claimant != customer
        }
    }
}
