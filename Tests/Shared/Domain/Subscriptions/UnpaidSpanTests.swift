import Contracts
import Foundation
import Testing

@testable import Subscriptions

@Suite struct UnpaidSpanTests {
    private static func spans(_ transactions: TransactionFacts...) -> [UnpaidSpan] {
        UnpaidSpan.spans(
            between: transactions.enumerated().map {
                TransactionVersion(
                    $1, version: Sample.version($1.signedDate.timeIntervalSince(Sample.beginning) / 86_400, UInt8($0)))
            }, renewal: nil, early: 86_400)
    }

    @Test func `Spans lie between paid periods, and an unbroken subscription has none`() {
        #expect(Self.spans(Sample.period("1"), Sample.period("2", from: 30, to: 60, signed: 30)).isEmpty)
        #expect(
            Self.spans(
                Sample.period("1"), Sample.period("2", from: 40, to: 70, signed: 40),
                Sample.period("3", from: 70, to: 100, signed: 70), Sample.period("4", from: 101, to: 131, signed: 101))
                == [
                    UnpaidSpan(start: Sample.day(30), end: Sample.day(40)),
                    UnpaidSpan(start: Sample.day(100), end: Sample.day(101)),
                ])
        #expect(Self.spans().isEmpty)
    }

    @Test func `Messages are due by the state of the purchase`() throws {
        var renewal = Sample.renewal(retry: true)
        renewal.eligibleWinBackOfferIds = ["back"]
        let event = Sample.event(
            "DID_FAIL_TO_RENEW", signed: 30, status: 3, transaction: Sample.period(), renewal: renewal)
        let subscription = try #require(Sample.state(event))
        #expect(StoreKitMessage.due(subscription, .billingRetry) == [.billingIssue])
        #expect(StoreKitMessage.due(subscription, .expired) == [.winBackOffer])
        #expect(StoreKitMessage.due(subscription, .active).isEmpty)
    }
}
