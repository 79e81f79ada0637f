import Postgres

extension AccountAppStore {
    /// The result of uploads that are not stored.
    package struct Trial: Sendable, Error {
        /// The outcome of the last one.
        package var outcome: Outcome
        /// The entitlements that the account would have beside purchases.
        package var given: [EntitlementStore.Line]
    }

    /// Adds app transactions of one account, reads what it has then, and rolls back.
    /// - Returns: nil where there are none.
    package func trial(
        of apps: [AccountApp], isRestore: Bool, by request: TransferStore.Request? = nil
    ) async throws -> Trial? {
        guard let last = apps.last else { return nil }
        return try await repeating {
            do {
                return try await connection.transaction { transaction -> Trial in
                    var outcome = Outcome.stored
                    for app in apps {
                        let isHeld = try transaction.pipeline([Self.command(held: app)])[0].affected > 0
                        outcome =
                            try isHeld
                            ? .stored : Self.add(app, isRestore: isRestore, by: request, audit: nil, in: transaction)
                    }
                    let given = try transaction.pipeline([
                        EntitlementStore.command(
                            besidePurchasesOf: [last.appAccountToken], in: last.environment, bundleIds: [last.bundleId])
                    ])[0]
                    throw Trial(outcome: outcome, given: try EntitlementStore.lines(given))
                }
            } catch let trial as Trial {
                return trial
            }
        }
    }
}
