import Contracts
import Postgres
import StrictJSON
import Subscriptions

import struct Foundation.UUID

/// The accounts of a batch whose customers asked to be forgotten, and the purchases that only such an account had.
///
/// Read with every batch that is applied, so that later notifications, replays, recovery and rebuilds bring nothing back.
struct ErasedAccounts: Sendable {
    /// An account of an app in one environment.
    struct Account: Hashable, Sendable {
        var environment: StoreEnvironment
        var bundleId: String
        var token: UUID
    }

    /// Whether the erasure is complete; false where the account was only detached.
    private var found: [Account: Bool] = [:]
    /// The purchases whose last account was erased completely, and that no other account has since.
    private var purchases: Set<SubscriptionKey> = []

    init(_ rows: Rows) throws {
        for row in rows {
            let environment: String = try row.value("environment")
            guard let environment = StoreEnvironment(rawValue: environment) else { continue }
            if let id = try row.optional("original_transaction_id", as: String.self) {
                purchases.insert(SubscriptionKey(environment: environment, originalTransactionId: id))
                continue
            }
            let account = Account(
                environment: environment, bundleId: try row.value("bundle_id"), token: try row.value("token"))
            found[account] = try row.value("is_complete")
        }
    }

    var isEmpty: Bool { found.isEmpty && purchases.isEmpty }

    func contains(_ account: Account) -> Bool { found[account] != nil }

    /// Selects the erased ones. Locks out a running erasure until the transaction ends.
    /// - Parameter purchases: of which payloads are to be stored.
    static func command(among accounts: Set<Account>, of purchases: [SubscriptionKey] = []) -> Command {
        Command(
            select, accounts.map(\.environment.rawValue), accounts.map(\.bundleId), accounts.map(\.token),
            purchases.map(\.environment.rawValue), purchases.map(\.originalTransactionId))
    }

    static let select = Statement(
        "erased-accounts",
        """
        select given.environment, given.bundle_id, given.token, null::text as original_transaction_id, erased.is_complete
        from unnest($1::text[], $2::text[], $3::uuid[]) as given (environment, bundle_id, token)
        join erased_account erased
            on erased.digest = account_digest(given.environment::store_environment, given.bundle_id, given.token)
        union all
        select given.environment, null, null, given.original_transaction_id, true
        from unnest($4::text[], $5::text[]) as given (environment, original_transaction_id)
        join erased_purchase erased
            on erased.environment = given.environment::store_environment
            and erased.original_transaction_id = given.original_transaction_id
        where erased.is_complete
            and not exists (
                select
                from purchase_account held
                where held.environment = erased.environment
                    and held.original_transaction_id = erased.original_transaction_id)
        """)

    /// Keeps what is about a purchase that another account names.
    mutating func keepPurchase(of entry: LedgerEntry) {
        guard let key = entry.event?.key, purchases.contains(key) else { return }
        if entry.accounts.contains(where: { found[$0] == nil }) { purchases.remove(key) }
    }

    /// Removes the erased accounts from an entry.
    func remove(from entry: inout LedgerEntry) {
        var isComplete = entry.event.map { purchases.contains($0.key) } ?? false
        for account in entry.accounts {
            guard let complete = found[account] else { continue }
            isComplete = isComplete || complete
            let token = account.token.uuidString.lowercased()
            if entry.event?.transaction?.appAccountToken == token { entry.event?.transaction?.appAccountToken = nil }
            if entry.event?.renewal?.appAccountToken == token { entry.event?.renewal?.appAccountToken = nil }
        }
        guard isComplete else { return }
        entry.keepsPayload = false
        // Also where the renewal info alone named the account; not where the transaction names another one, which keeps it.
        if entry.event?.transaction?.appAccountToken == nil { entry.event?.transaction?.appTransactionId = nil }
    }
}

extension LedgerEntry {
    /// The accounts that the notification names.
    var accounts: Set<ErasedAccounts.Account> {
        var tokens: [String] = []
        if let event {
            tokens = [event.transaction?.appAccountToken, event.renewal?.appAccountToken].compactMap(\.self)
        } else if let payload = try? JSONDocument(notification.decoded) {
            // Rare: version 1, and objects that this build does not know.
            tokens = payload.root.accountTokens
        }
        let bundleId = event?.bundleId ?? notification.bundleId
        return Set(
            tokens.compactMap { UUID(uuidString: $0) }.map {
                ErasedAccounts.Account(environment: notification.environment, bundleId: bundleId, token: $0)
            })
    }
}

extension JSONValue {
    /// The account tokens anywhere in it.
    package var accountTokens: [String] {
        members.flatMap { key, value in
            ["appAccountToken", "app_account_token"].contains(key)
                ? [value.string].compactMap(\.self) : value.accountTokens
        } + elements.flatMap(\.accountTokens)
    }
}
