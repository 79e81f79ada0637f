import Commands
import Contracts
import Foundation
import Storage
import Subscriptions

/// Makes the customers of an import known and lets them claim their purchases. Repeatable: what is known stays as it is.
struct ImportRun {
    /// What became of a row.
    enum Outcome: String, Sendable, Encodable {
        case created
        case known
        /// The customer has another token, or the token another customer.
        case conflict
        /// The line cannot be used.
        case invalid
    }

    let records: CustomerRecords
    let claims: CustomerStore
    let bundleId: String
    let environment: StoreEnvironment
    let context: CommandContext

    /// - Parameter isDryRun: looks, and writes nothing.
    func outcome(of row: ImportList.Row, isDryRun: Bool) async throws -> Outcome {
        let (outcome, token) = try await mapped(row, isDryRun: isDryRun)
        guard let token, !isDryRun, !row.originalTransactionIds.isEmpty else { return outcome }
        // It does not take a purchase from the account that Apple names.
        let now = context.now()
        try await claims.add(
            row.originalTransactionIds.map { id in
                AccountClaim(
                    key: SubscriptionKey(environment: environment, originalTransactionId: id), bundleId: bundleId,
                    appTransactionId: nil, appAccountToken: token.uuidString.lowercased(),
                    evidence: .operator, since: now)
            })
        return outcome
    }

    private func mapped(_ row: ImportList.Row, isDryRun: Bool) async throws -> (Outcome, UUID?) {
        if isDryRun {
            guard let stored = try await records.find(row.customerId, of: bundleId, in: environment) else {
                return (.created, nil)
            }
            return row.appAccountToken.map { $0 == stored.appAccountToken } ?? true ? (.known, nil) : (.conflict, nil)
        }
        let wanted = CustomerRecords.Customer(
            id: row.customerId, environment: environment, bundleId: bundleId,
            appAccountToken: row.appAccountToken ?? context.id(), createdAt: context.now())
        switch try await records.put(wanted, isTokenGiven: row.appAccountToken != nil) {
        case .created(let customer): return (.created, customer.appAccountToken)
        case .known(let customer): return (.known, customer.appAccountToken)
        case .conflict: return (.conflict, nil)
        }
    }
}
