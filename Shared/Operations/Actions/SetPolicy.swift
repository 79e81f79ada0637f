import Contracts
import Postgres
import Storage
import Subscriptions

/// Sets an app's policy for Apple accounts that several of its accounts share, and applies it to all purchases of the app.
///
/// Of the command line alone: it changes at once who may use what for every customer of an app, runs for as long as the app has
/// purchases, and only the operator's database role may write policies. What another policy would change can be tried there.
package struct SetPolicy: Sendable {
    let policy: SharingPolicy
    let needsDevice: Bool
    let mostAccounts: Int?
    let bundleId: String
    let environment: StoreEnvironment

    /// - Parameters:
    ///   - needsDevice: whether a restore needs a device mark to move a purchase.
    ///   - mostAccounts: the number of accounts that may claim one Apple account, 1 to 1000; nil keeps it as it is.
    package init(
        _ policy: SharingPolicy, needsDevice: Bool, mostAccounts: Int?, of bundleId: String,
        in environment: StoreEnvironment
    ) {
        self.policy = policy
        self.needsDevice = needsDevice
        self.mostAccounts = mostAccounts
        self.bundleId = bundleId
        self.environment = environment
    }

    /// As in the audit log.
    package var name: String {
        "customers policy \(policy.rawValue)\(needsDevice ? " --needs-device" : "")"
            + (mostAccounts.map { " --most-accounts \($0)" } ?? "")
    }

    /// The policy and its row of the audit log are written both or neither. After an interruption state-updater applies the rest.
    /// - Parameter progress: is told of each portion of purchases.
    package func perform(
        on connection: PostgresConnection, by performer: Performer,
        progress: (PolicyApplication.Portion) -> Void = { _ in }
    ) async throws {
        try await SharingStore(connection).setPolicy(
            policy, needsDevice: needsDevice, mostAccounts: mostAccounts, of: bundleId, in: environment,
            at: performer.now,
            audit: performer.action(
                name, on: "\(environment.rawValue) \(bundleId)", about: OperatorAction.About(environment, bundleId)),
            progress: progress)
    }
}
