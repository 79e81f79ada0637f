import AppStore
import Foundation
import Operations
import StrictJSON
import Testing

@Suite struct AdvancedCommerceTests {
    private static let info = """
        {"requestReferenceId":"r","descriptors":{"displayName":"All","description":"d"},"taxCode":"C003","period":"P1M",\
        "estimatedTax":1900,"taxExclusivePrice":8090,"taxRate":"0.19","new":1,"items":[{"SKU":"news","displayName":"News",\
        "price":9990,"priceIncreaseInfo":{"price":11990,"status":"PENDING","dependentSKUs":["x"]},\
        "refunds":[{"refundAmount":990,"refundDate":1767225600000,"refundReason":"LEGAL","refundType":"PRORATED"}]}]}
        """

    @Test func `Items, taxes, refunds and price increases are told`() throws {
        let decoded = #"{"data":{"signedTransactionInfo":{"advancedCommerceInfo":\#(Self.info)}}}"#
        let info = try #require(AdvancedCommerceInfo(decoded: decoded))
        #expect(
            info.lines("EUR") == [
                "“All”, period P1M, tax code C003, without tax 8.090 EUR, tax 1.900 EUR, tax rate 0.19, request r",
                "item news: “News”, 9.990 EUR, price increase to 11.990 EUR PENDING, refunded 0.990 EUR (LEGAL)",
            ])
        let again = try AdvancedCommerceInfo(json: JSONDocument(info.json).root)
        #expect(again == info)
        #expect(again.items?.first?.refunds?.first?.refundDate == Date(timeIntervalSince1970: 1_767_225_600))
    }

    @Test(arguments: [nil, "", "{}", "[]", #"{"data":{"signedTransactionInfo":{"advancedCommerceInfo":7}}}"#])
    func `Payload without Advanced Commerce tells nothing`(decoded: String?) {
        #expect(AdvancedCommerceInfo(decoded: decoded) == nil)
    }
}
