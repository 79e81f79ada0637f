import Postgres
import Records
import StrictJSON
import Subscriptions

import struct Foundation.Date

/// The column `item_refunds`: `[[milliseconds since 1970, amount], …]`.
extension JSONText {
    init(itemRefunds: [TransactionFacts.ItemRefund]) {
        self.init("[" + itemRefunds.map { "[\($0.date.milliseconds),\($0.amount)]" }.joined(separator: ",") + "]")
    }

    /// Nil for JSON that is no list of refunds.
    var itemRefunds: [TransactionFacts.ItemRefund]? {
        (try? JSONDocument(Array(text.utf8)))?.root.elements.compactMap { one in
            let numbers = one.elements.compactMap(\.int64)
            return numbers.count == 2
                ? TransactionFacts.ItemRefund(date: Date(milliseconds: numbers[0]), amount: numbers[1]) : nil
        }
    }
}
