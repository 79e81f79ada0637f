import Contracts
import Postgres
import Storage

import struct Foundation.UUID

/// Makes an account the entitled one of the Apple accounts that it shares, or takes that back.
package struct ChooseAccount: Sendable {
    package static let name = "customers choose"
    package static let undoing = "customers choose --undo"

    let account: UUID
    let bundleId: String
    let environment: StoreEnvironment
    let isUndoing: Bool

    package init(_ account: UUID, of bundleId: String, in environment: StoreEnvironment, undo: Bool = false) {
        self.account = account
        self.bundleId = bundleId
        self.environment = environment
        isUndoing = undo
    }

    package func plan(on connection: PostgresConnection) async throws -> OperationPlan {
        let name = account.uuidString.lowercased()
        let customer = try await CustomerRecords(connection).customers(with: account, of: [bundleId], in: environment)
        return OperationPlan(
            isUndoing ? Self.undoing : Self.name, on: name,
            about: OperatorAction.About(environment, bundleId, account: account, customer: customer.first?.id),
            [
                isUndoing
                    ? "The policy applies to \(name) again."
                    : "\(name) is entitled on every Apple account that it shares, also where Apple names another account, and on those "
                        + "that it claims later, until the choice is undone."
            ])
    }

    /// - Throws: `OperationError` where a choice is taken back that was not made.
    @discardableResult
    package func perform(on connection: PostgresConnection, by performer: Performer) async throws -> OperationPlan {
        let plan = try await plan(on: connection)
        let isDone = try await SharingStore(connection).choose(
            account, undo: isUndoing, of: CoverageStore.App(environment, bundleId), audit: plan.action(of: performer))
        guard isDone else {
            throw OperationError(
                "\(plan.subject) was not chosen in \(bundleId.escaped), \(environment.rawValue)", .notFound)
        }
        return plan
    }
}
