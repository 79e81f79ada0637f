import Contracts
import Postgres
import Refunds
import Storage

import struct Foundation.Date

/// Adds a version of the policy by which refund requests of an app are answered.
package struct SetRefundPolicy: Sendable {
    package static let name = "refunds policy set"

    package let document: String
    package let policy: RefundPolicy
    package let bundleId: String
    package let environment: StoreEnvironment

    /// - Throws: `OperationError` with all that is wrong with the document.
    package init(
        _ document: String, of bundleId: String, in environment: StoreEnvironment
    ) throws(OperationError) {
        do throws(RefundPolicyFaults) { policy = try RefundPolicy(Array(document.utf8)) } catch {
            throw OperationError("the policy is not accepted:\n\(error)", .invalid("policy"))
        }
        guard !bundleId.isEmpty else {
            throw OperationError("the bundle id of the app is missing", .invalid("bundleId"))
        }
        self.document = document
        self.bundleId = bundleId
        self.environment = environment
    }

    private var subject: String { "\(environment.rawValue) \(bundleId)" }
    private var about: OperatorAction.About { OperatorAction.About(environment, bundleId) }

    package func plan(on connection: PostgresConnection, at now: Date) async throws -> OperationPlan {
        let before = try await RefundPolicyStore(connection).inForce(bundleId, in: environment)
        let open = try await RefundRequestPages(connection).page(
            in: environment, of: [bundleId], state: .open, limit: 1000, at: now)
        var effects = [
            before?.replacement ?? "\(bundleId) in \(environment.rawValue) would get its first policy.",
            "\(open.count.counted("open request")) would be decided by it; requests that are decided stay as they are.",
        ]
        if let consent = policy.consent {
            effects.append(
                "Accounts created since \(consent.acceptedSince.text) would count as consenting by the terms "
                    + "“\(consent.terms)”, unless they withdrew: that these terms say so is your duty.")
        }
        return OperationPlan(
            Self.name, on: subject, about: about, effects + policy.warnings.map { "Warning: \($0)" },
            isEffective: before?.document != document)
    }

    /// - Returns: the number of the version.
    package func perform(on connection: PostgresConnection, by performer: Performer) async throws -> Int64 {
        try await RefundPolicyStore(connection).add(
            document, to: bundleId, in: environment, by: performer.name, at: performer.now,
            audit: performer.action(Self.name, on: subject, about: about))
    }
}
