import AppStore
import Foundation
import Operations
import StrictJSON
import Testing

@Suite struct AdvancedCommerceTests {
    private static let info = """
        {"requestReferenceId":"r","descriptors":{"displayName":"All","description":"d"},"taxCode":"C003","period":"P1M",\
        "estimatedTax":1900,"taxExclusivePrice":8090,"taxRate":"0.19","new":1,"items":[{"SKU":"news","displayName":"News",\
        "price":9990,"offer":{"period":"P1M","periodCount":3,"price":1990,"reason":"ACQUISITION"},\
        "priceIncreaseInfo":{"price":11990,"status":"PENDING","dependentSKUs":["x"]},\
        "refunds":[{"refundAmount":990,"refundDate":1767225600000,"refundReason":"LEGAL","refundType":"PRORATED"}]}]}
        """

    @Test func `Items, taxes, refunds and price increases are told`() throws {
        let transaction = #"{"currency":"EUR","advancedCommerceInfo":\#(Self.info)}"#
        let lines = [
            "“All”, period P1M, tax code C003, without tax 8.090 EUR, tax 1.900 EUR, tax rate 0.19, request r",
            "item news: “News”, 9.990 EUR, offer 3 × P1M for 1.990 EUR (ACQUISITION), price increase to 11.990 EUR "
                + "PENDING with x, refunded 0.990 EUR on 2026-01-01T00:00:00Z (PRORATED, LEGAL)",
        ]
        #expect(AdvancedCommerceInfo.lines(decoded: #"{"data":{"signedTransactionInfo":\#(transaction)}}"#) == lines)
        #expect(AdvancedCommerceInfo.lines(decoded: transaction) == lines)
        let info = try AdvancedCommerceInfo(json: JSONDocument(Array(Self.info.utf8)).root)
        let again = try AdvancedCommerceInfo(json: JSONDocument(info.json).root)
        #expect(again == info)
        #expect(again.items?.first?.refunds?.first?.refundDate == Date(timeIntervalSince1970: 1_767_225_600))
    }

    @Test func `Renewal information adds what the transaction does not say`() {
        let bought = #"{"taxCode":"C003","items":[{"SKU":"a","price":1000},{"SKU":"b","price":2000}]}"#
        let next = #"""
            {"taxCode":"C003","items":[{"SKU":"a","price":1000},\#
            {"SKU":"b","price":2000,"priceIncreaseInfo":{"price":2500,"status":"SCHEDULED"}}]}
            """#
        func lines(_ transaction: String, _ renewal: String) -> [String] {
            AdvancedCommerceInfo.lines(
                decoded: #"""
                    {"data":{"signedTransactionInfo":{"currency":"EUR","advancedCommerceInfo":\#(transaction)},\#
                    "signedRenewalInfo":{"currency":"EUR","advancedCommerceInfo":\#(renewal)}}}
                    """#)
        }
        let both = ["tax code C003", "item a: 1.000 EUR", "item b: 2.000 EUR"]
        let increase = "at renewal: item b: 2.000 EUR, price increase to 2.500 EUR SCHEDULED"
        #expect(lines(bought, next) == both + [increase])
        #expect(lines(bought, bought) == both)
        #expect(lines("null", #"{"consistencyToken":"t"}"#) == ["at renewal: consistency token t"])
    }

    @Test(arguments: [nil, "", "{}", "[]", #"{"data":{"signedTransactionInfo":{"advancedCommerceInfo":7}}}"#])
    func `Payload without Advanced Commerce tells nothing`(decoded: String?) {
        #expect(AdvancedCommerceInfo.lines(decoded: decoded).isEmpty)
    }
}
