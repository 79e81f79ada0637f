import Contracts
import Foundation
import Subscriptions
import Testing

@Suite struct CommitmentTests {
    private static let paid = """
        {"billingPeriodNumber":3,"totalBillingPeriods":12,"commitmentExpiresDate":1798761600000.5,"commitmentPrice":119880,"new":[1]}
        """

    private static func next(_ status: Int) -> String {
        """
        {"commitmentAutoRenewProductId":"gold","commitmentAutoRenewStatus":\(status),\
        "commitmentRenewalBillingPlanType":"MONTHLY","commitmentRenewalDate":1798761600000,"commitmentRenewalPrice":10990}
        """
    }

    private static func facts(next status: Int) -> (TransactionFacts, RenewalFacts) {
        var transaction = Sample.period(to: 30)
        transaction.billingPlanType = "MONTHLY"
        transaction.commitmentInfo = paid
        var renewal = Sample.renewal()
        (renewal.renewalPriceMilliunits, renewal.currency) = (9_990, "EUR")
        renewal.commitmentInfo = next(status)
        return (transaction, renewal)
    }

    @Test func `Commitment tells the payment, the end, the prices and what follows`() throws {
        let (transaction, renewal) = Self.facts(next: 1)
        let commitment = try #require(Commitment(transaction: transaction, renewal: renewal))
        #expect(commitment.billingPeriodNumber == 3 && commitment.totalBillingPeriods == 12)
        #expect(commitment.expiresDate == Date(milliseconds: 1_798_761_600_000))
        #expect(commitment.priceMilliunits == 119_880 && commitment.renewalPriceMilliunits == 10_990)
        #expect(commitment.autoRenewProductId == "gold" && commitment.autoRenewStatus == true)
        #expect(commitment.renewalBillingPlanType == "MONTHLY")
        #expect(
            commitment.text(transaction, renewal)
                == "payment 3 of 12, bound until 2027-01-01T00:00:00.000Z; all payments together are 119.880 EUR; the next "
                + "payment is 9.990 EUR; after it, gold follows on 2027-01-01T00:00:00.000Z for 10.990 EUR")
    }

    @Test(arguments: ["1798761600000", "1798761600000.5", "1798761600000000"])
    func `Dates of a commitment may have a fraction, or be in microseconds`(number: String) {
        var transaction = Sample.period()
        transaction.commitmentInfo = #"{"commitmentExpiresDate":\#(number)}"#
        var renewal = Sample.renewal()
        renewal.commitmentInfo = #"{"commitmentRenewalDate":\#(number)}"#
        let commitment = Commitment(transaction: transaction, renewal: renewal)
        #expect(commitment?.expiresDate == Date(milliseconds: 1_798_761_600_000))
        #expect(commitment?.renewalDate == Date(milliseconds: 1_798_761_600_000))
    }

    @Test(arguments: ["null", "[1]", "7", "{", #"{"billingPeriodNumber":"3","commitmentExpiresDate":1e300}"#])
    func `Commitment of another form than Apple documents claims nothing`(json: String) {
        var transaction = Sample.period()
        transaction.commitmentInfo = json
        let commitment = Commitment(transaction: transaction, renewal: nil)
        #expect(commitment?.billingPeriodNumber == nil && commitment?.expiresDate == nil)
        #expect(Commitment(transaction: Sample.period(), renewal: Sample.renewal()) == nil)
    }

    @Test func `Cancelled commitment is told as such, and its access goes on`() throws {
        let (transaction, renewal) = Self.facts(next: 0)
        let event = Sample.event(
            "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", signed: 3, status: 1, transaction: transaction,
            renewal: renewal)
        #expect(
            event.sentence.hasPrefix(
                "The customer cancelled the renewal of the commitment; its payments and access continue."))
        #expect(event.sentence.contains("nothing follows it, because the customer cancelled its renewal"))
        let state = try #require(Sample.state(event))
        #expect(state.renewal?.autoRenewStatus == true)
    }

    @Test func `Transition names the payment and the renewal of the commitment`() throws {
        let (transaction, renewal) = Self.facts(next: 1)
        let first = Sample.event("DID_RENEW", signed: 1, status: 1, transaction: transaction, renewal: renewal)
        let cancelled = Sample.event(
            "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", signed: 3, status: 1, transaction: transaction,
            renewal: {
                var later = Self.facts(next: 0).1
                later.signedDate = Sample.day(3)
                return later
            }())
        let known = try #require(Subscription.applying(first, known: nil).subscription)
        let changes = Subscription.applying(cancelled, known: known).changes
        #expect(changes.map(\.sentence) == ["The renewal of the commitment is off; it was on."])
    }

    @Test func `Failed payment of a commitment is retried for 90 days`() throws {
        var (transaction, renewal) = Self.facts(next: 1)
        renewal.isInBillingRetry = true
        let failed = Sample.event(
            "DID_FAIL_TO_RENEW", signed: 30, status: 3, transaction: transaction, renewal: renewal)
        #expect(failed.sentence.contains("for up to 90 days"))
        transaction.billingPlanType = nil
        let other = Sample.event("DID_FAIL_TO_RENEW", signed: 30, status: 3, transaction: transaction, renewal: renewal)
        #expect(other.sentence.contains("for up to 60 days"))
        #expect(BillingRules.billingRetry(of: "MONTHLY") == 90 * 86_400)
        #expect(BillingRules.billingRetry(of: "BILLED_UPFRONT") == 60 * 86_400)
    }
}
