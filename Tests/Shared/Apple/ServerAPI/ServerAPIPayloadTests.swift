import AppStore
import Foundation
import ServerAPI
import StrictJSON
import Testing

@Suite struct ServerAPIPayloadTests {
    private static let date = Date(timeIntervalSince1970: 1_780_000_000.123)
    private static let jws = Array("a.b.c".utf8)

    private func again<Value: Payload>(_ value: Value) throws -> Value {
        try Value(json: JSONDocument(value.json).root)
    }

    @Test func `Page of notifications survives writing and reading`() throws {
        var attempt = SendAttempt()
        attempt.attemptDate = Self.date
        attempt.sendAttemptResult = .timedOut
        var item = NotificationHistoryItem()
        item.signedPayload = Self.jws
        item.sendAttempts = [attempt, SendAttempt()]
        var page = NotificationHistoryResponse()
        page.paginationToken = "t"
        page.hasMore = true
        page.notificationHistory = [item, NotificationHistoryItem()]
        #expect(try again(page) == page)
        #expect(try again(NotificationHistoryResponse()) == NotificationHistoryResponse())
    }

    @Test func `Transactions, refunds, orders and statuses survive writing and reading`() throws {
        var history = HistoryResponse()
        history.revision = "r"
        history.hasMore = false
        history.appAppleId = 7
        history.environment = .sandbox
        history.signedTransactions = [Self.jws, Self.jws]
        #expect(try again(history) == history)
        var refunds = RefundHistoryResponse()
        refunds.signedTransactions = [Self.jws]
        #expect(try again(refunds) == refunds)
        var order = OrderLookupResponse()
        order.status = .valid
        order.signedTransactions = [Self.jws]
        #expect(try again(order) == order)
        var last = LastTransactionsItem()
        last.status = .billingRetry
        last.signedTransactionInfo = Self.jws
        last.signedRenewalInfo = Self.jws
        var group = SubscriptionGroupIdentifierItem()
        group.subscriptionGroupIdentifier = "g"
        group.lastTransactions = [last]
        var status = StatusResponse()
        status.data = [group]
        #expect(try again(status) == status)
    }

    @Test func `Requests survive writing and reading, as a simulator reads them`() throws {
        let history = NotificationHistoryRequest(
            startDate: Self.date, endDate: Self.date, notificationType: .expired, notificationSubtype: .voluntary,
            transactionId: "1", onlyFailures: false)
        #expect(try again(history) == history)
        let mass = MassExtendRenewalDateRequest(
            extendByDays: 90, extendReasonCode: .other, requestIdentifier: "i", storefrontCountryCodes: ["DEU"],
            productId: "p")
        #expect(try again(mass) == mass)
        let consumption = ConsumptionRequest(
            customerConsented: true, sampleContentProvided: true, deliveryStatus: .undeliveredOther,
            consumptionPercentage: 1, refundPreference: .decline)
        #expect(try again(consumption) == consumption)
        let error = APIErrorBody(errorCode: .invalidSort, errorMessage: "Invalid.")
        #expect(try again(error) == error)
    }

    @Test func `Fault of an element names its place`() throws {
        let json = #"{"notificationHistory":[{},{"sendAttempts":[{},{"attemptDate":"x"}]}]}"#
        let document = try JSONDocument(Array(json.utf8))
        #expect {
            _ = try NotificationHistoryResponse(json: document.root)
        } throws: { error in
            (error as? PayloadFault)?.field == "notificationHistory[1].sendAttempts[1].attemptDate"
        }
        #expect(throws: PayloadFault(field: "data", expected: "an array")) {
            _ = try StatusResponse(json: JSONDocument(Array(#"{"data":{}}"#.utf8)).root)
        }
    }
}
