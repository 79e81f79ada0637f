import Foundation
import Subscriptions
import Testing

@Suite struct MarksTests {
    @Test func `of each name the newest stays, in any order`() {
        let asked = [1.0, 5, 3].map { Sample.news("PRICE_INCREASE/PENDING", signed: $0, transaction: Sample.period()) }
        let declined = Sample.news("REFUND_DECLINED", signed: 2, transaction: Sample.period())
        let marks = Marks((asked + [declined]).flatMap(\.marks))
        #expect(marks[.priceIncreasePending]?.version == Sample.version(5))
        #expect(marks[.refundDeclined]?.transactionId == "1")
        #expect(marks[.refunded] == nil)
        #expect(marks == Marks((asked.reversed() + [declined] + asked).flatMap(\.marks)))
    }

    @Test func `all marks are listed newest first`() {
        let marks = Marks(
            [Sample.news("DID_RENEW", signed: 1), Sample.news("EXPIRED", signed: 2)].flatMap(\.marks))
        #expect(marks.all.map(\.name) == ["com.example.metals", "EXPIRED", "DID_RENEW"])
    }

    @Test func `what the stored marks make is what the news made`() {
        let news = Life.news(of: Deed.life(seed: 9))
        var marks = Marks()
        for one in news { marks.join(one) }
        #expect(Marks(marks.all) == marks)
    }
}
