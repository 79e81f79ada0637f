import Storage
import Subscriptions

extension PaidTotal {
    /// Such as `59.940 EUR in 6 transactions, 9.990 refunded`.
    package var text: String {
        func amount(_ thousandths: Int64) -> String { FigureReport.Value.amount(thousandths).text }
        return "\(amount(charged)) \(currency) in \(charges.counted("transaction"))"
            + (refunded > 0 ? ", \(amount(refunded)) refunded" : "")
    }
}
