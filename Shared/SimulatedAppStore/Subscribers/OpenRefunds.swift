import struct Foundation.Date
import typealias Foundation.TimeInterval

/// Purchases whose customers asked for a refund in the present. Apple asks the developer again until it is answered or twelve hours
/// are over, and decides by seed: within 4 hours after an answer, without one between 12 and 48 hours after the request.
struct OpenRefunds: Sendable {
    private struct Entry: Sendable {
        var purchase: SimulatedPurchase
        var random: SeededRandom
        /// When Apple asks again; nil where it does not.
        var nextRequest: Date?
        var decision: Date
        var isGranted: Bool

        var due: Date { nextRequest.map { min($0, decision) } ?? decision }
    }

    private let seed: UInt64
    /// Seconds of an hour of Apple's.
    private let hour: TimeInterval
    private var entries: [Entry] = []

    /// - Parameter scale: divides Apple's hours.
    init(seed: UInt64, scale: Double) {
        self.seed = seed
        hour = 3600 / scale
    }

    /// How long a purchase must stand from the request on, so that every decision is about what still runs. Seconds.
    var longest: TimeInterval { 48 * hour }

    /// - Parameter purchase: with a request that was just made.
    mutating func add(_ purchase: SimulatedPurchase) {
        guard let request = purchase.refundRequest else { return }
        // By seed and transaction alone: when the answer comes does not change what is decided.
        let number = request.transactionId.utf8.reduce(UInt64(0)) { $0 &* 31 &+ UInt64($1) }
        var random = SeededRandom(seed: seed ^ number)
        let isGranted = random.chance(0.5)
        let decision = request.requestedAt.adding((12 + 36 * random.fraction()) * hour)
        var entry = Entry(purchase: purchase, random: random, decision: decision, isGranted: isGranted)
        planRequest(of: &entry)
        entries.append(entry)
    }

    /// The developer answered.
    /// - Returns: false where no such request is open here.
    mutating func answer(_ transactionId: String, at now: Date) -> Bool {
        guard
            let place = entries.firstIndex(where: { $0.purchase.refundRequest?.transactionId == transactionId })
        else { return false }
        entries[place].purchase.answerConsumptionRequest(of: transactionId)
        entries[place].nextRequest = nil
        let decision = now.adding(4 * hour * entries[place].random.fraction())
        entries[place].decision = min(entries[place].decision, decision)
        return true
    }

    /// The earliest request or decision that is due; nil where there is none.
    mutating func next(now: Date, identities: inout Identities) -> EventPayload? {
        let due = entries.indices.filter { entries[$0].due <= now }.min { entries[$0].due < entries[$1].due }
        guard let place = due else { return nil }
        let moment = max(now, entries[place].purchase.now.adding(0.001))
        let product = entries[place].purchase.purchase?.product ?? Product.subscriptions[0]
        if entries[place].nextRequest.map({ $0 <= entries[place].decision }) ?? false {
            let payload = entries[place].purchase.apply(
                .repeatConsumptionRequest, at: moment, product: product, identities: &identities)
            planRequest(of: &entries[place])
            return payload
        }
        var entry = entries.remove(at: place)
        let isGranted = entry.isGranted && entry.purchase.permits(.refund, at: moment)
        return entry.purchase.apply(
            isGranted ? .refund : .declineRefund, at: moment, product: product, identities: &identities)
    }

    private func planRequest(of entry: inout Entry) {
        entry.nextRequest = nil
        guard let request = entry.purchase.refundRequest, entry.random.chance(0.5) else { return }
        let date = entry.purchase.now.adding(4 * hour * entry.random.fraction())
        if date < request.requestedAt.adding(12 * hour) { entry.nextRequest = date }
    }
}
