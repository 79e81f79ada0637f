import Contracts
import Storage
import StrictJSON
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

extension AccountAccess {
    /// - Parameters:
    ///   - states: of the withheld purchases, by id.
    ///   - products: of the withheld purchases, by id.
    ///   - withheldBecause: of purchases uploaded, by id, where it is not their state.
    ///   - isNamed: false where an upload names no account, so that the answer is about the purchases uploaded.
    func write(
        to json: inout JSONWriter, states: [String: SubscriptionState], products: [String: String],
        withheldBecause: [String: WithheldReason] = [:],
        isNamed: Bool = true
    ) {
        json.member("appAccountToken", isNamed ? account.uuidString.lowercased() : nil)
        json.member("environment", environment.rawValue)
        json.member("version", version)
        json.member("changesAt", changesAt?.milliseconds)
        json.beginArray("entitlements")
        for line in entitlements { write(line, to: &json) }
        json.endArray()
        json.objects("withheld", of: withheld) { json, line in
            json.member("bundleId", line.bundleId)
            json.member("originalTransactionId", line.id)
            json.member("productId", products[line.id])
            let reason = withheldBecause[line.id] ?? WithheldReason(states[line.id], line.because)
            json.member("reason", reason.name)
            json.member("nextStep", reason.nextStep)
        }
    }

    private func write(_ entitlement: Entitlement, to json: inout JSONWriter) {
        let line = entitlement.line
        json.beginObject()
        json.member("name", entitlement.name)
        json.member("productId", line.productId)
        json.member("bundleId", line.bundleId)
        json.member("givesAccess", true)
        json.member("startsAt", line.startsAt?.milliseconds)
        json.member("until", line.until?.milliseconds)
        json.member("reason", line.source == .app ? "originalApplicationVersion" : line.reason)
        json.member("isHighestLevel", entitlement.isHighestLevel)
        json.member("ownership", line.ownership)
        json.member("willRenew", line.isAutoRenewing)
        json.member("originalTransactionId", line.source == .access ? line.id : nil)
        json.member("transactionId", line.transactionId)
        json.member("grantId", line.source == .grant ? line.id : nil)
        if let uuid = line.notificationUUID {
            json.beginObject("because")
            json.member("notificationUUID", uuid.uuidString.lowercased())
            json.member("signedDate", line.signedAt?.milliseconds)
            json.endObject()
        } else {
            json.member("because", nil as String?)
        }
        json.endObject()
    }
}
