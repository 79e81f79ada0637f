import Commands
import Contracts
import Foundation
import Operations
import Postgres
import Storage
import Subscriptions

/// Makes the customers of an import known and lets them claim their purchases. Repeatable: what is known stays as it is.
struct ImportRun {
    /// What became of a row.
    enum Outcome: String, Sendable, Encodable {
        case created
        case known
        /// The customer is stored, and another account keeps a purchase of the row.
        case otherAccount
        /// The customer has another token, or the token another customer.
        case conflict
        /// The customer asked to be forgotten, and the row would bring the account back.
        case erased
        /// The line cannot be used.
        case invalid
    }

    /// A row's customer, and what the customer does not get.
    struct Mapped {
        var outcome: Outcome
        /// Nil where the customer is not stored.
        var appAccountToken: UUID?
        /// True for a customer who was not stored before.
        var isNew = false
        /// The purchases of the row, by their original transaction ids where these are known.
        var purchases: [String] = []
        /// Those of them that another account has.
        var withheld: [String] = []
    }

    let connection: PostgresConnection
    let bundleId: String
    let environment: StoreEnvironment
    let context: CommandContext
    private var records: CustomerRecords { CustomerRecords(connection) }
    private var claims: CustomerStore { CustomerStore(connection) }

    /// - Parameter isDryRun: looks, and writes nothing.
    func outcome(of row: ImportList.Row, isDryRun: Bool) async throws -> Mapped {
        do {
            return try await stored(row, isDryRun: isDryRun)
        } catch let error as PostgresError where error.sqlState == ErasureStore.rejectedState {
            return Mapped(outcome: .erased, appAccountToken: nil)
        }
    }

    private func stored(_ row: ImportList.Row, isDryRun: Bool) async throws -> Mapped {
        let (outcome, token) = try await mapped(row, isDryRun: isDryRun)
        var result = Mapped(outcome: outcome, appAccountToken: token, isNew: outcome == .created)
        guard outcome != .conflict, outcome != .erased, !row.originalTransactionIds.isEmpty else { return result }
        result.purchases = try await purchases(row.originalTransactionIds)
        if let token, !isDryRun { try await claim(result.purchases, for: token) }
        result.withhold(try await withheld(result.purchases, from: token, isDryRun: isDryRun))
        return result
    }

    /// The purchases of a row. The file may name one by a renewal: Apple is not asked again about what an earlier run fetched, but then
    /// the transaction is known here.
    private func purchases(_ ids: [String]) async throws -> [String] {
        let known = try await TransactionStore(connection).originals(of: ids, bundleId: bundleId, in: environment)
        var purchases: [String] = []
        for id in ids.map({ known[$0] ?? $0 }) where !purchases.contains(id) { purchases.append(id) }
        return purchases
    }

    /// Lets an account claim purchases. It does not take one from the account that Apple names.
    private func claim(_ purchases: [String], for account: UUID) async throws {
        let now = context.now()
        try await claims.add(
            purchases.map { id in
                AccountClaim(
                    key: SubscriptionKey(environment: environment, originalTransactionId: id), bundleId: bundleId,
                    appTransactionId: nil, appAccountToken: account.uuidString.lowercased(),
                    evidence: .operator, since: now)
            })
    }

    /// Lets the accounts of rows claim a purchase of which the rows name another transaction than the first.
    func claim(_ purchase: String, for accounts: [UUID]) async throws {
        for account in accounts {
            do { try await claim([purchase], for: account) } catch let error as PostgresError
                where error.sqlState == ErasureStore.rejectedState
            {
                // It was erased since its row was read.
            }
        }
    }

    /// Those of the purchases that another account has.
    func withheld(_ purchases: [String], from account: UUID?, isDryRun: Bool = false) async throws -> [String] {
        try await claims.withheld(purchases, from: account, isClaimed: !isDryRun, of: bundleId, in: environment)
    }

    /// Gives the access that another system gave by hand, once.
    /// - Returns: how many grants are new.
    /// - Throws: `OperationError` where no such entitlement is known.
    func give(_ grants: [ImportList.Grant], to account: UUID, by performer: Performer) async throws -> Int {
        let reason = "imported: given by hand in the system before"
        let stored = try await records.grants(of: account, of: bundleId, in: environment)
        var given = 0
        for grant in grants {
            let isKnown = stored.contains { other in
                other.productId == grant.entitlement && other.endsAt?.text == grant.endsAt?.text
                    && other.reason == reason
            }
            guard !isKnown else { continue }
            try await GrantAccess(
                CustomerRecords.ManualGrant(
                    id: context.id(), environment: environment, bundleId: bundleId, appAccountToken: account,
                    productId: grant.entitlement, reason: reason, startsAt: performer.now, endsAt: grant.endsAt,
                    createdAt: performer.now, createdBy: CustomerRecords.ManualGrant.byOperator)
            ).perform(on: connection, by: performer)
            given += 1
        }
        return given
    }

    private func mapped(_ row: ImportList.Row, isDryRun: Bool) async throws -> (Outcome, UUID?) {
        if isDryRun {
            guard let stored = try await records.find(row.customerId, of: bundleId, in: environment) else {
                guard let token = row.wantedToken else { return (.created, nil) }
                if try await ErasureStore(connection).isErased(token, of: bundleId, in: environment) {
                    return (.erased, nil)
                }
                let others = try await records.customers(with: token, of: [bundleId], in: environment)
                return others.isEmpty ? (.created, token) : (.conflict, nil)
            }
            let isSame = row.appAccountToken.map { $0 == stored.appAccountToken } ?? true
            return isSame ? (.known, stored.appAccountToken) : (.conflict, nil)
        }
        let wanted = CustomerRecords.Customer(
            id: row.customerId, environment: environment, bundleId: bundleId,
            appAccountToken: row.wantedToken ?? context.id(), createdAt: context.now())
        switch try await records.put(wanted, isTokenGiven: row.appAccountToken != nil) {
        case .created(let customer): return (.created, customer.appAccountToken)
        case .known(let customer): return (.known, customer.appAccountToken)
        case .conflict: return (.conflict, nil)
        }
    }
}

extension ImportRun.Mapped {
    /// Another account has these purchases.
    mutating func withhold(_ purchases: [String]) {
        guard !purchases.isEmpty else { return }
        withheld = (withheld + purchases).sorted()
        outcome = .otherAccount
    }
}

extension ImportList.Row {
    /// The account of a customer who is new here: what the file says, or the customer's id where it is a UUID, because RevenueCat's SDK
    /// then names it to Apple, and so do many apps. Nil where any will do.
    fileprivate var wantedToken: UUID? { appAccountToken ?? UUID(uuidString: customerId) }
}
