import Foundation

/// When one purchase gives access by the simulator's own book-keeping: the reference that a receiver is compared with.
///
/// It follows the events and reads no payload, and it shares no code with a receiver.
struct ExpectedAccess: Sendable, Equatable {
    struct Period: Sendable, Equatable {
        /// Nil in grace, which is not paid.
        var transactionId: String?
        var product: Product
        var start: Date
        /// Nil is unlimited.
        var end: Date?
        /// The end of the period before a refund; nil without one.
        fileprivate var endBeforeRefund: Date??
    }

    /// In the order of their beginnings, not overlapping, some of them empty.
    private var all: [Period] = []

    /// In the order of their beginnings.
    var periods: [Period] { all.filter { period in period.end.map { $0 > period.start } ?? true } }

    mutating func grant(_ purchase: Purchase) {
        // A payment in grace interrupts nothing: the new period begins where the old one ended.
        all.removeAll { $0.transactionId == nil && $0.start >= purchase.purchaseDate }
        all.append(
            Period(
                transactionId: purchase.transactionId, product: purchase.product, start: purchase.purchaseDate,
                end: purchase.expiresDate))
    }

    /// Access continues without payment.
    mutating func allowGrace(for product: Product, from start: Date, until end: Date) {
        all.append(Period(transactionId: nil, product: product, start: start, end: end))
    }

    /// Ends everything, also what was to begin later.
    mutating func end(at date: Date) {
        for place in all.indices { cut(place, at: date) }
    }

    /// A refunded transaction gives no more access.
    mutating func refund(_ transactionId: String, at date: Date) {
        guard let place = place(of: transactionId) else { return }
        all[place].endBeforeRefund = .some(all[place].end)
        cut(place, at: date)
    }

    mutating func reverseRefund(of transactionId: String) {
        guard let place = place(of: transactionId), let end = all[place].endBeforeRefund else { return }
        all[place].end = end
        all[place].endBeforeRefund = nil
    }

    mutating func extend(_ transactionId: String, until end: Date) {
        if let place = place(of: transactionId) { all[place].end = end }
    }

    private func place(of transactionId: String) -> Int? { all.lastIndex { $0.transactionId == transactionId } }

    private mutating func cut(_ place: Int, at date: Date) {
        let end = max(date, all[place].start)
        if all[place].end.map({ $0 > end }) ?? true { all[place].end = end }
    }
}

extension ExpectedAccess.Period {
    /// Text for the summary.
    func sentence(in bundleId: String) -> String {
        let end = end.map { $0.formatted(.iso8601) } ?? "for ever"
        let grace = transactionId == nil ? " (grace)" : ""
        return "\(start.formatted(.iso8601)) to \(end)  \(product.id(in: bundleId))\(grace)"
    }
}
