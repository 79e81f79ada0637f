import Foundation
import Subscriptions

extension SimulatedPurchase {
    mutating func refund(_ choice: Int) -> Bool {
        guard state != .none else { return false }
        let index = choice / 2 % 3 > 0 ? current : choice / 67 % charges.count
        // Of two versions signed in one millisecond neither is the newer.
        let isSignedNow = events.contains {
            $0.transaction?.transactionId == charges[index].facts.transactionId
                && $0.transaction?.signedDate.milliseconds == now
        }
        guard charges[index].refundedAt == nil, !isSignedNow else { return false }
        let isPaidAhead = charges[index].from > now
        let isLast = index == current
        charges[index].refundedAt = now
        charges[index].facts.revocationDate = Date(milliseconds: now)
        charges[index].facts.revocationReason = choice % 2
        guard state != .oneTime else {
            send([("REFUND", index)], choice: choice)
            return true
        }
        let covers = charges.contains { $0.refundedAt == nil && $0.entitlesUntil > now }
        if isLast, !covers, state != .ended {
            clearGrace()
            state = .revoked
        }
        var envelopes = [("REFUND", index)]
        if isLast, willRenew {
            renewal.autoRenewStatus = false
            // https://developer.apple.com/documentation/appstoreservernotifications/subtype says that AUTO_RENEW_DISABLED
            // reports this of a subscription that goes on; of one that ends with the refund Apple may leave it out.
            if covers || choice / 71 % 2 == 0 {
                envelopes.append(("DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", index))
            }
        }
        // The status may be read off the newest transaction although the period before it still runs.
        // So may the renewal info.
        send(
            envelopes, choice: choice, status: isPaidAhead && choice / 73 % 2 == 0 ? 5 : nil,
            about: isPaidAhead && choice / 97 % 2 == 0 ? index : nil)
        return true
    }

    mutating func reverseRefund(_ choice: Int) -> Bool {
        guard !isFamilyShared, let index = charges.lastIndex(where: { $0.refundedAt != nil }) else { return false }
        // A reversal takes longer than the day before a period for which Apple may charge.
        guard charges[index].from <= now else { return false }
        // Older payloads do not say whether what came after it renewed it or replaced it.
        guard index == charges.count - 1 || oldPayloads == 0 else { return false }
        charges[index].refundedAt = nil
        charges[index].facts.revocationDate = nil
        charges[index].facts.revocationReason = nil
        if state == .revoked { state = charges[index].entitlesUntil > now ? .active : .ended }
        send([("REFUND_REVERSED", index)], choice: choice)
        return true
    }

    /// Family sharing ends for every period that is not over; Apple reports each in the same moment.
    mutating func revokeFamilyAccess(_ choice: Int) -> Bool {
        guard isFamilyShared, state == .active || state == .oneTime else { return false }
        let lost = charges.indices.filter { charges[$0].entitlesUntil > now && charges[$0].refundedAt == nil }
        guard !lost.isEmpty else { return false }
        for index in lost {
            charges[index].refundedAt = now
            charges[index].facts.revocationDate = Date(milliseconds: now)
            charges[index].facts.revocationType = "FAMILY_REVOKE"
        }
        if state == .active { state = .revoked }
        send(lost.map { ("REVOKE", $0) }, choice: choice)
        return true
    }
}
