import Contracts
import Postgres
import Subscriptions

/// Compares who may use purchases by the live schema with the decision by what the ledger says.
///
/// What Apple signed comes from the rebuilt schema; claims of uploads, transfers, chosen accounts and policies are not in the ledger, and
/// come from the live one.
struct OwnershipComparison {
    static let table = "purchase_account"

    /// The names of the schemas, quoted.
    let live: String
    let rebuilt: String

    /// - Parameter concerned: the purchases, of one environment.
    func differences(
        of concerned: Set<OwnershipChange.Name>, in transaction: PostgresTransaction
    ) throws -> [StateComparison.Difference] {
        guard !concerned.isEmpty else { return [] }
        var reached = concerned
        for schema in [rebuilt, live] {
            let change = OwnershipChange(reached)
            let rows = try transaction.pipeline([path(schema), OwnershipStore.command(reachedFrom: change)])[1]
            reached.formUnion(try OwnershipStore.purchases(rows))
        }
        let commands = OwnershipInputs.commands(reading: reached)
        let held = try OwnershipInputs.read(transaction.pipeline(commands)[...])
        let signed = try OwnershipInputs.read(transaction.pipeline([path(rebuilt)] + commands)[1...])
        _ = try transaction.pipeline([path(live)])
        return Set(held.keys).union(signed.keys).flatMap { app in
            let (held, signed) = (held[app] ?? OwnershipInputs(), signed[app] ?? OwnershipInputs())
            var inputs = held
            inputs.purchases = signed.purchases
            inputs.claims =
                signed.claims.filter { $0.evidence == .apple } + held.claims.filter { $0.evidence != .apple }
            func compared(_ accounts: [PurchaseAccount]) -> [String: PurchaseAccount] {
                let compared = accounts.filter { account in
                    concerned.contains(OwnershipChange.Name(app: app, id: account.key.originalTransactionId))
                }
                return Dictionary(compared.map { ($0.row, $0) }, uniquingKeysWith: { first, _ in first })
            }
            return Self.differences(between: compared(held.held), and: compared(inputs.decided()))
        }
    }

    private static func differences(
        between live: [String: PurchaseAccount], and decided: [String: PurchaseAccount]
    ) -> [StateComparison.Difference] {
        Set(live.keys).union(decided.keys).sorted().compactMap { row in
            let (live, decided) = (live[row], decided[row])
            guard live != decided, let one = decided ?? live else { return nil }
            let columns = [
                (name: "because", live: live?.because.rawValue, decided: decided?.because.rawValue),
                (name: "may_use", live: live.map { "\($0.mayUse)" }, decided: decided.map { "\($0.mayUse)" }),
            ].filter { live != nil && decided != nil && $0.live != $0.decided }
            return StateComparison.Difference(
                key: one.key, table: table, row: "\(one.bundleId) \(one.appAccountToken)",
                columns: columns.map {
                    StateComparison.Difference.Column(name: $0.name, live: $0.live, rebuilt: $0.decided)
                },
                presence: live == nil ? .onlyRebuilt : decided == nil ? .onlyLive : .both)
        }
    }

    private func path(_ schema: String) -> Command {
        Command(Statement(unsafeSQL: "set local search_path to \(schema)"))
    }
}

extension PurchaseAccount {
    /// Its place among the rows of all purchases.
    fileprivate var row: String { "\(key.originalTransactionId) \(bundleId) \(appAccountToken)" }
}
