import struct Foundation.Date

/// The payments for one purchase in the simulator's own book-keeping: the reference that figures of revenue are compared with.
///
/// It follows the events and reads no payload, and it shares no code with a receiver. Amounts are thousandths of a unit of the
/// storefront's currency.
struct ChargeBook: Sendable, Equatable {
    /// A payment for a period of a subscription, or for seats that were added within one.
    struct Charge: Sendable, Equatable {
        var transactionId: String
        var product: Product
        /// The period that the payment covers: that of the product or of the offer; for added seats, as for the period that they were added to.
        var period: Product.Period
        var price: Int64
        /// When its period begins; of added seats, when they were added.
        var date: Date
        /// When its period ends, unless it is cut short.
        var end: Date
        /// The transaction whose period the seats were added to; nil for a charge of a period.
        var seatsOf: String?

        /// The revenue per month, rounded once, halves up. A month has 365.25 / 12 days.
        var monthly: Int64 {
            switch period {
            case .week: (price * 1461 + 168) / 336
            case .month: price
            case .twoMonths: (price + 1) / 2
            case .threeMonths: (price + 1) / 3
            case .sixMonths: (price + 3) / 6
            case .year: (price + 6) / 12
            }
        }
    }

    /// A refund by Apple.
    struct Refund: Sendable, Equatable {
        var transactionId: String
        var date: Date
        var amount: Int64
    }

    /// In the order of their dates.
    private(set) var charges: [Charge] = []
    /// Those that stand, in the order of their dates.
    private(set) var refunds: [Refund] = []
    /// When the purchase gives access, as of the newest event.
    var periods: [ExpectedAccess.Period] = []

    /// Books a payment for a period.
    mutating func charge(_ purchase: Purchase) { add(purchase, seatsOf: nil) }

    /// Books a payment for seats that are added to the period of another transaction.
    mutating func charge(_ purchase: Purchase, forSeatsOf transactionId: String) {
        add(purchase, seatsOf: transactionId)
    }

    private mutating func add(_ purchase: Purchase, seatsOf transactionId: String?) {
        let joined = charges.last { $0.transactionId == transactionId }?.period
        guard let period = joined ?? purchase.offer?.period ?? purchase.product.period, let end = purchase.expiresDate
        else { return }
        charges.append(
            Charge(
                transactionId: purchase.transactionId, product: purchase.product, period: period,
                price: purchase.price, date: purchase.purchaseDate, end: end, seatsOf: transactionId))
    }

    /// Books a refund, of a part where Apple says how much. One-time purchases are not booked, nor are their refunds.
    mutating func refund(_ transactionId: String, _ revocation: Purchase.Revocation) {
        guard let charge = charges.last(where: { $0.transactionId == transactionId }) else { return }
        let share = revocation.percentage ?? 100_000
        refunds.append(
            Refund(
                transactionId: transactionId, date: revocation.date,
                amount: (charge.price * share + 50_000) / 100_000))
    }

    /// Takes a refund back.
    mutating func reverseRefund(of transactionId: String) { refunds.removeAll { $0.transactionId == transactionId } }

    /// Books that the developer extended a period.
    mutating func extend(_ transactionId: String, until end: Date) {
        for place in charges.indices where charges[place].transactionId == transactionId {
            charges[place].end = end
        }
    }

    /// The monthly revenue of the purchase at a moment: the charges whose periods give access then. Added seats count until they are refunded, while
    /// the period with the same end gives access.
    func monthlyRevenue(at moment: Date) -> Int64 {
        var sum: Int64 = 0
        for period in periods where period.start <= moment && period.end.map({ moment < $0 }) ?? true {
            guard let paid = charges.first(where: { $0.transactionId == period.transactionId }) else { continue }
            sum += paid.monthly
            for seats in charges where seats.seatsOf == paid.transactionId && seats.end == paid.end {
                let refundedAt = refunds.first { $0.transactionId == seats.transactionId }?.date ?? .distantFuture
                if seats.date <= moment, moment < refundedAt { sum += seats.monthly }
            }
        }
        return sum
    }
}
