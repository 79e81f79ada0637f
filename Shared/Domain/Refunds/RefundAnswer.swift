import StrictJSON

/// The answer to a refund request as Apple takes it, and what was changed to make it so.
package struct RefundAnswer: Sendable, Equatable {
    /// What Apple is told that the developer would like; nil: nothing.
    package var preference: RefundPreference?
    package var deliveryStatus: DeliveryStatus
    package var isSampleProvided: Bool
    /// In thousandths of a per cent; nil: not told.
    package var percentage: Int64?
    /// Whether it goes to the older endpoint, which alone takes answers about Advanced Commerce purchases.
    package var isVersion1: Bool
    /// What was changed and why, one sentence each.
    package var adjustments: [String] = []

    /// Version 1 or 2 of Apple's endpoint.
    package var apiVersion: Int { isVersion1 ? 1 : 2 }

    /// Makes an answer that Apple accepts for this product. What no backend reported is told as delivered, without a sample.
    package init(_ preference: RefundPreference?, about subject: RefundSubject) {
        self.preference = preference
        deliveryStatus = subject.usage?.deliveryStatus ?? .delivered
        isSampleProvided = subject.usage?.isSampleProvided ?? false
        percentage = subject.usage?.percentage
        isVersion1 = subject.isAdvancedCommerce
        if isVersion1 { makeVersion1() } else { makeValid(isAutoRenewable: subject.isAutoRenewable) }
    }

    private mutating func makeVersion1() {
        if percentage != nil {
            percentage = nil
            adjustments.append("percentage left out: Apple takes none for an Advanced Commerce purchase")
        }
        if preference == .grantProrated {
            preference = .grantFull
            adjustments.append(
                "GRANT_PRORATED sent as a full grant: Apple takes no prorated one for an Advanced Commerce purchase")
        }
    }

    private mutating func makeValid(isAutoRenewable: Bool) {
        if isAutoRenewable {
            if percentage != nil {
                percentage = nil
                adjustments.append("percentage left out: Apple takes none for an auto-renewable subscription")
            }
            return
        }
        if let reported = percentage, reported != 0, deliveryStatus != .delivered {
            percentage = nil
            adjustments.append(
                "percentage \(reported) left out: Apple takes only 0 for what was not delivered")
        }
        guard preference == .grantProrated else { return }
        switch percentage {
        case nil:
            preference = nil
            adjustments.append("GRANT_PRORATED left out: Apple takes it only with a percentage")
        case 0:
            preference = .grantFull
            adjustments.append("GRANT_PRORATED sent as GRANT_FULL: nothing was used")
        case 100_000:
            preference = .decline
            adjustments.append("GRANT_PRORATED sent as DECLINE: everything was used")
        default: break
        }
    }

    /// The bytes that Apple gets.
    package var body: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        if isVersion1 {
            // Zero and the empty text are Apple's words for what is not told.
            json.member("accountTenure", Int64(0))
            json.member("appAccountToken", "")
            json.member("consumptionStatus", Int64(0))
            json.member("customerConsented", true)
            json.member("deliveryStatus", deliveryStatus.version1)
            json.member("lifetimeDollarsPurchased", Int64(0))
            json.member("lifetimeDollarsRefunded", Int64(0))
            json.member("platform", Int64(0))
            json.member("playTime", Int64(0))
            json.member("refundPreference", preference?.version1 ?? 0)
            json.member("sampleContentProvided", isSampleProvided)
            json.member("userStatus", Int64(0))
        } else {
            json.member("customerConsented", true)
            json.member("sampleContentProvided", isSampleProvided)
            json.member("deliveryStatus", deliveryStatus.rawValue)
            // What is not told is left out: Apple documents no null.
            if let percentage { json.member("consumptionPercentage", percentage) }
            if let preference { json.member("refundPreference", preference.rawValue) }
        }
        json.endObject()
        return json.bytes
    }
}
