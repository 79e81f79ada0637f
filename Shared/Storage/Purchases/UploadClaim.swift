import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// An upload of purchases by an account of the app, which claims them.
public struct UploadClaim: Sendable {
    /// The account of the app.
    public var appAccountToken: UUID
    /// The time of the upload, by the clock of the process that received it.
    public var uploadedAt: Date
    /// Whether it also claims purchases whose payloads name another account, as a restore does.
    public var includesOwned: Bool
    /// Of the purchases that it claims, by original transaction id; the others it does not claim.
    public var evidence: [String: ClaimEvidence]
    /// The request whose earlier decisions are not made again; nil where its client cannot repeat it.
    package var request: TransferStore.Request?

    /// - Parameters:
    ///   - includesOwned: whether it also claims purchases whose payloads name another account.
    ///   - evidence: of the purchases, by original transaction id.
    public init(appAccountToken: UUID, uploadedAt: Date, includesOwned: Bool, evidence: [String: ClaimEvidence]) {
        self.appAccountToken = appAccountToken
        self.uploadedAt = uploadedAt
        self.includesOwned = includesOwned
        self.evidence = evidence
    }

    /// - Parameter last: the newest claim of an upload on the purchases of the same Apple account. A claim comes after it, as it does
    ///   under the locks: the clocks of two instances differ, and those of one may be set back.
    func made(on purchase: StatePreview.Purchase, after last: Date?) -> AccountClaim? {
        let subscription = purchase.subscription
        let since = max(uploadedAt, last?.addingTimeInterval(0.001) ?? .distantPast)
        guard let evidence = evidence[subscription.key.originalTransactionId],
            includesOwned || subscription.appAccountToken == nil
        else { return nil }
        return AccountClaim(
            key: subscription.key, bundleId: subscription.bundleId,
            appTransactionId: subscription.transaction?.appTransactionId,
            appAccountToken: appAccountToken.lowercasedText, evidence: evidence, since: since)
    }

    /// What a restore would move; nil where the upload is none, or nothing would.
    func restore(
        of purchase: StatePreview.Purchase, _ accounts: [AppleAccount], _ inputs: OwnershipInputs
    ) -> TransferStore.Transfer? {
        let (subscription, key) = (purchase.subscription, purchase.subscription.key)
        let (rule, chosen) = (inputs.rule, inputs.chosen)
        guard includesOwned, let account = accounts.first(where: { $0.keys.contains(key) }) else { return nil }
        let holders = account.entitledTokens(to: key, rule.policy, most: rule.mostAccounts, chosen: chosen)
        let evidence = evidence[key.originalTransactionId]
        let buyer = subscription.appAccountToken
        let restore = Restore(
            account: appAccountToken.lowercasedText, evidence: evidence, holders: holders, buyer: buyer,
            isChosenByOperator: account.isChosen(for: key, chosen),
            isLapsed: subscription.isLapsed(at: uploadedAt, in: purchase.periods),
            countedMoves: inputs.moves.count(of: inputs.replaced(by: key), before: uploadedAt))
        guard var outcome = restore.outcome(rule.policy, needsDevice: rule.needsDevice), let holder = holders.first
        else { return nil }
        // An operator may have chosen the account before it claims anything: it claims then, and the choice decides.
        if outcome == .tooMany, chosen.contains(restore.account) { outcome = .chosen }
        return TransferStore.Transfer(
            key: key, bundleId: subscription.bundleId, from: holder, to: restore.account, evidence: evidence,
            policy: rule.policy, outcome: outcome, isCounted: restore.account != buyer)
    }
}

extension UUID {
    /// The spelling in which tokens are compared.
    var lowercasedText: String { uuidString.lowercased() }
}
