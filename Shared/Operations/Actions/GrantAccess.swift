import Postgres
import Storage

import struct Foundation.Date

/// Gives an account access by hand.
package struct GrantAccess: Sendable {
    package static let name = "customers grant"
    package static let days = 1...36_500

    package let grant: CustomerRecords.ManualGrant
    /// Whether a name is granted that this installation does not know.
    package let confirmsUnknown: Bool

    /// - Throws: `OperationError` where a value is outside of the limits.
    package init(_ grant: CustomerRecords.ManualGrant, confirmsUnknown: Bool = false) throws(OperationError) {
        guard (1...255).contains(grant.productId.utf8.count) else {
            throw OperationError(
                "the name of the entitlement or product must have 1 to 255 bytes", .invalid("productId"))
        }
        guard try Performer.checked(grant.reason) != nil else {
            throw OperationError("the reason is missing: say why, for the people of support", .invalid("reason"))
        }
        if let end = grant.endsAt {
            guard end > grant.startsAt else {
                throw OperationError("the grant would end before it begins: give a later end", .invalid("endsAt"))
            }
            guard end.timeIntervalSince(grant.startsAt) <= Double(Self.days.upperBound) * 86_400 else {
                throw OperationError(
                    "the grant would last too long: give at most \(Self.days.upperBound) days, or no end",
                    .invalid("endsAt"))
            }
        }
        self.grant = grant
        self.confirmsUnknown = confirmsUnknown
    }

    /// When a grant of some days ends; nil for none.
    package static func end(after days: Int?, from start: Date) throws(OperationError) -> Date? {
        guard let days else { return nil }
        try Self.days.check(days)
        return start.addingTimeInterval(Double(days) * 86_400)
    }

    package func plan(on connection: PostgresConnection) async throws -> OperationPlan {
        let names = try await EntitlementDefinitionStore(connection).names(of: grant.bundleId, in: grant.environment)
        let app = "\(grant.bundleId) in \(grant.environment.rawValue)"
        let until = grant.endsAt.map { "until \($0.text)" } ?? "until it is revoked"
        return OperationPlan(
            Self.name, on: grant.subject, about: try await grant.about(on: connection),
            [
                "Account \(grant.appAccountToken.uuidString.lowercased()) of \(app) may use \(grant.productId) from "
                    + "\(grant.startsAt.text) \(until)."
            ],
            doubt: names.all.contains(grant.productId)
                ? nil
                : names.all.isEmpty
                    ? "No entitlement and no product of \(app) is known here."
                    : "No entitlement or product \(grant.productId) of \(app) is known here, only "
                        + "\(names.all.prefix(20).joined(separator: ", "))\(names.all.count > 20 ? ", …" : "").")
    }

    /// A grant of an id that is there already changes nothing, and has no second row of the audit log.
    /// - Returns: the plan, which says whether the grant is new.
    /// - Throws: `OperationError` where the name is unknown and that was not confirmed.
    @discardableResult
    package func perform(on connection: PostgresConnection, by performer: Performer) async throws -> OperationPlan {
        var plan = try await plan(on: connection)
        if let doubt = plan.doubt, !confirmsUnknown { throw OperationError(doubt, .unconfirmed) }
        var action = plan.action(of: performer)
        action.reason = performer.reason ?? grant.reason
        let (added, audit) = (
            CustomerRecords.command(adding: grant), OperatorActionStore.command(recording: [action])
        )
        plan.isEffective = try await connection.transaction { transaction in
            guard try transaction.pipeline([added])[0].affected > 0 else { return false }
            try transaction.commit(after: [audit])
            return true
        }
        return plan
    }
}

extension CustomerRecords.ManualGrant {
    /// In the audit log.
    package var subject: String {
        "\(appAccountToken.uuidString.lowercased()) \(productId), grant \(id.uuidString.lowercased())"
    }

    /// With the developer's own id of the customer, where there is one: an erasure finds the row by it.
    func about(on connection: PostgresConnection) async throws -> OperatorAction.About {
        let customer = try await CustomerRecords(connection).customers(
            with: appAccountToken, of: [bundleId], in: environment
        ).first
        return OperatorAction.About(environment, bundleId, account: appAccountToken, customer: customer?.id)
    }
}
