import Contracts
import Foundation
import Logging
import Operations
import Postgres
import Storage

/// What the backend of an app does so that refund requests are answered and an offer is signed, done for the simulated apps of a
/// development run: a policy and a rule for each app, and the consent of the customers.
struct ExampleBackend: Sendable {
    private static let tick: Duration = .milliseconds(500)
    /// Requests of one look.
    private static let limit = 500

    /// Each rule is explained in Documentation/Refunds.md.
    static let policy = """
        { "rules": [
            {"name": "renewal not noticed", "if": {"sinceRenewal": {"atMost": "PT24H"}, "refunds": {"within": "P365D", "atMost": 0}}, "then": {"preference": "GRANT_FULL"}},
            {"name": "third refund in a year", "if": {"refunds": {"within": "P365D", "atLeast": 2}}, "then": {"preference": "DECLINE"}},
            {"name": "else", "then": {"preference": null}} ] }
        """

    /// For the offer that the simulated customers redeem.
    static func offerRules(of bundleId: String) -> String {
        """
        { "rules": [
            {"productId": "\(bundleId).premium.monthly", "offerIdentifier": "spring.half", "who": ["autoRenewOff", "lapsed"], "noRefundDays": 90, "atMost": {"count": 1, "days": 365}} ] }
        """
    }

    let databaseURL: String
    let apps: [ProcessPlan.App]
    let now: @Sendable () -> Date

    /// Sets the policy and the offer rules of every app that has none.
    func setPolicies() async throws {
        let connection = connect()
        let performer = try Performer("storekeeper dev", reason: "example", at: now())
        for app in apps {
            for environment in app.environments {
                if try await RefundPolicyStore(connection).inForce(app.bundleId, in: environment) == nil {
                    _ = try await SetRefundPolicy(Self.policy, of: app.bundleId, in: environment).perform(
                        on: connection, by: performer)
                }
                if try await OfferRuleStore(connection).inForce(app.bundleId, in: environment) == nil {
                    _ = try await SetOfferRules(
                        Self.offerRules(of: app.bundleId), of: app.bundleId, in: environment
                    ).perform(on: connection, by: performer)
                }
            }
        }
        await connection.close()
    }

    /// Records the consent of customers whose refund requests lack it, until it is cancelled.
    func recordConsents() async throws {
        let connection = connect()
        var recorded: Set<RefundKey> = []
        while true {
            do { try await recordConsents(on: connection, &recorded) } catch let error as PostgresError
                where error.isTransient
            {
                // The run says that Postgres is away.
            }
            try await Task.sleep(for: Self.tick)
        }
    }

    private func recordConsents(on connection: PostgresConnection, _ recorded: inout Set<RefundKey>) async throws {
        let moment = now()
        let entries = try await RefundRequestPages(connection).page(
            in: nil, state: .withheld, limit: Self.limit, at: moment)
        for entry in entries where entry.answer?.withheldBecause == "consent" && recorded.insert(entry.key).inserted {
            guard let account = try await RefundRequestPages(connection).account(of: entry) else { continue }
            try await ConsentStore(connection).add(
                ConsentStore.Consent(
                    environment: entry.key.environment, bundleId: entry.bundleId, appAccountToken: account,
                    kind: .consumption, isGiven: true, givenAt: moment, recordedAt: moment, recordedBy: UUID(),
                    note: "storekeeper dev"))
        }
    }

    private func connect() -> PostgresConnection {
        PostgresConnection(
            PostgresConfiguration(url: databaseURL, applicationName: "storekeeper dev"), logger: .silent)
    }
}
