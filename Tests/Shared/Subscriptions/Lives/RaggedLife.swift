import Contracts
import Foundation
import Subscriptions

extension Life {
    /// A life as it may be told where Apple leaves things out: parts are missing, two pieces of news are of one moment, a
    /// transaction was signed up to an hour before its news, a purchase date has a fraction, another app speaks.
    static func ragged(_ news: [PurchaseEvent], using generator: inout SplitMix) -> [PurchaseEvent] {
        var last: Date?
        return news.map { whole in
            var one = whole
            func happens(_ odds: Int) -> Bool { Int.random(in: 0..<odds, using: &generator) == 0 }
            if happens(6), let last { one.version.signedDate = last }
            last = one.version.signedDate
            if happens(4) { one.renewal = nil }
            if happens(5) { one.status = nil }
            if happens(8) { one.transaction = nil }
            if happens(3) {
                let lead = Double(Int.random(in: 1...3600, using: &generator))
                one.transaction?.signedDate = one.version.signedDate.addingTimeInterval(-lead)
            }
            if happens(7), let bought = one.transaction?.purchaseDate {
                one.transaction?.purchaseDate = bought.addingTimeInterval(0.000_4)
            }
            if happens(20) { one.bundleId = "com.example.woods" }
            return one
        }
    }
}
