import Contracts
import StrictJSON

import struct Foundation.Date

/// A subscription that is paid in parts: the customer owes all payments of the commitment, and each of them pays for one billing period.
///
/// Access follows the billing period alone, never ``expiresDate``: Apple charges each period, and a failed charge ends access at once. A
/// customer who cancels switches off the renewal of the commitment; its remaining payments go on, and `autoRenewStatus` stays 1.
///
/// [TransactionCommitmentInfo](https://developer.apple.com/documentation/appstoreserverapi/transactioncommitmentinfo),
/// [RenewalCommitmentInfo](https://developer.apple.com/documentation/appstoreserverapi/renewalcommitmentinfo)
public struct Commitment: Sendable, Equatable {
    /// Which payment the transaction is, from 1.
    public var billingPeriodNumber: Int64?
    /// How many payments the commitment has.
    public var totalBillingPeriods: Int64?
    /// Until when the customer is bound; later after a failed charge that succeeded in the end.
    public var expiresDate: Date?
    /// The price of the whole commitment, in thousandths of a unit of the transaction's currency.
    public var priceMilliunits: Int64?
    /// The product that follows the commitment.
    public var autoRenewProductId: String?
    /// Whether anything follows the commitment.
    public var autoRenewStatus: Bool?
    /// Apple's `commitmentRenewalBillingPlanType`: `BILLED_UPFRONT` or `MONTHLY`.
    public var renewalBillingPlanType: String?
    /// When the commitment renews.
    public var renewalDate: Date?
    /// The price of what follows, in thousandths of a unit of the renewal info's currency.
    public var renewalPriceMilliunits: Int64?

    /// Reads Apple's two objects as they are stored. A member of another type than Apple documents is nil here, and stays in what is stored.
    /// - Returns: nil where neither is an object.
    public init?(transaction: TransactionFacts?, renewal: RenewalFacts?) {
        let paid = Self.object(transaction?.commitmentInfo)
        let next = Self.object(renewal?.commitmentInfo)
        guard paid != nil || next != nil else { return nil }
        billingPeriodNumber = paid?["billingPeriodNumber"]?.int64
        totalBillingPeriods = paid?["totalBillingPeriods"]?.int64
        expiresDate = Self.date(paid?["commitmentExpiresDate"])
        priceMilliunits = paid?["commitmentPrice"]?.int64
        autoRenewProductId = next?["commitmentAutoRenewProductId"]?.string
        autoRenewStatus = next?["commitmentAutoRenewStatus"]?.int64.flatMap { [0: false, 1: true][$0] }
        renewalBillingPlanType = next?["commitmentRenewalBillingPlanType"]?.string
        renewalDate = Self.date(next?["commitmentRenewalDate"])
        renewalPriceMilliunits = next?["commitmentRenewalPrice"]?.int64
    }

    private static func object(_ text: String?) -> JSONValue? {
        guard let text, let root = try? JSONDocument(Array(text.utf8)).root, root.kind == .object else { return nil }
        return root
    }

    /// Apple's dates occur with a fraction of a millisecond, and in microseconds.
    private static func date(_ value: JSONValue?) -> Date? {
        value?.double.map { Date(appleNumber: $0) }.flatMap { $0.isPlausible ? $0.wholeMilliseconds : nil }
    }
}
