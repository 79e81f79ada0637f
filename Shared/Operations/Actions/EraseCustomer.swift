import Contracts
import Postgres
import Storage

import struct Foundation.UUID

/// Forgets an account of an app: separates it from its purchases, or erases it with all that Apple signed about it.
package struct EraseCustomer: Sendable {
    /// Who is forgotten.
    package enum Customer: Sendable {
        case account(UUID)
        /// By the developer's own id, or by the appAccountToken.
        case named(String)

        var text: String {
            switch self {
            case .account(let account): account.uuidString.lowercased()
            case .named(let name): name.escaped
            }
        }
    }

    let customer: Customer
    let bundleId: String
    let environment: StoreEnvironment
    package let extent: ErasureStore.Extent

    package init(
        _ customer: Customer, of bundleId: String, in environment: StoreEnvironment, extent: ErasureStore.Extent
    ) {
        self.customer = customer
        self.bundleId = bundleId
        self.environment = environment
        self.extent = extent
    }

    package var name: String { "customers \(extent.rawValue)" }

    /// What it would find now.
    /// - Throws: `OperationError` where nothing is known of the customer.
    package func preview(on connection: PostgresConnection) async throws -> ErasureStore.Preview {
        let store = ErasureStore(connection)
        let preview =
            switch customer {
            case .account(let account): try await store.preview(account, of: bundleId, in: environment)
            case .named(let name): try await store.preview(named: name, of: bundleId, in: environment)
            }
        guard let preview else { throw unknown }
        return preview
    }

    package func plan(of preview: ErasureStore.Preview) -> OperationPlan {
        let payloads = extent == .erase ? preview.payloads : 0
        return OperationPlan(
            name, on: preview.account.uuidString.lowercased(),
            about: OperatorAction.About(environment, bundleId, account: preview.account, customer: preview.customer),
            [
                "\(preview.purchases.counted("purchase")) would be without a customer.",
                "\(payloads.counted("signed payload")) would be deleted.",
                "\(preview.grants.counted("grant")) would be deleted.",
            ], isEffective: !preview.isErased)
    }

    /// Idempotent: a second call returns the first certificate. Each has its row of the audit log, in the transaction that forgets.
    /// - Parameter id: of the certificate.
    package func perform(
        on connection: PostgresConnection, id: UUID, by performer: Performer
    ) async throws -> ErasureStore.Certificate {
        let (store, now) = (ErasureStore(connection), performer.now)
        // The certificate stands for the account, which the audit log must not name.
        let audit = { @Sendable (certificate: ErasureStore.Certificate) in
            performer.action(name, on: certificate.subject, about: OperatorAction.About(environment, bundleId))
        }
        let certificate =
            switch customer {
            case .account(let account):
                try await store.forget(
                    account, of: bundleId, in: environment, extent: extent, id: id, at: now, audit: audit)
            case .named(let name):
                try await store.forget(
                    named: name, of: bundleId, in: environment, extent: extent, id: id, at: now, audit: audit)
            }
        guard let certificate else { throw unknown }
        return certificate
    }

    private var unknown: OperationError {
        OperationError(
            "no customer and no account \(customer.text) of \(bundleId.escaped) is known in \(environment.rawValue): "
                + "name the customer by your own id or by the appAccountToken", .notFound)
    }
}
