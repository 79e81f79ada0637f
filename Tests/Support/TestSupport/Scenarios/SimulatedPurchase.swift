import Contracts
import Foundation
import Subscriptions

/// Apple's side of one purchase: it keeps the charges with the access that each grants, and sends notifications about them.
///
/// No charge depends on a notification. Written from Apple's documentation: <https://developer.apple.com/documentation/appstoreservernotifications/notificationtype>.
struct SimulatedPurchase {
    enum State { case none, active, grace, retry, ended, revoked, oneTime }

    /// One charge. It grants access to its product from its beginning until it was replaced, refunded or over.
    struct Charge {
        var facts: TransactionFacts
        var from: Int64
        /// The end by the transaction.
        var end: Int64
        /// Until when it entitles if it is not refunded: `end`, or where a later purchase replaced it.
        var entitlesUntil: Int64
        var refundedAt: Int64?
        var isReplaced: Bool { entitlesUntil < end }

        func entitles(at moment: Int64) -> Bool {
            from <= moment && moment < entitlesUntil && (refundedAt.map { moment < $0 } ?? true)
        }
    }

    /// A grace period: it grants access where no charge does.
    struct Grace {
        var productId: String
        var from: Int64
        var to: Int64

        func contains(_ moment: Int64) -> Bool { from <= moment && moment < to }
    }

    static let products = ["gold", "silver", "bronze", "platinum"]
    static let passes = ["pass": 7, "season": 100]
    static let birth: Int64 = 1_735_689_600_000
    static let day: Int64 = 86_400_000
    /// 1 week, 1, 2, 3, 6 months, 1 year, in milliseconds.
    private static let periods: [Int64] = [7, 30, 61, 91, 182, 365].map { $0 * day }
    /// The same at the speeds of the sandbox, minutes.
    private static let sandboxPeriods: [[Int64]] = [
        [3, 5, 10, 15, 30, 60], [10, 30, 60, 90, 180, 360], [15, 60, 120, 180, 360, 720],
    ].map { $0.map { $0 * 60_000 } }

    var state = State.none
    var now = birth
    var charges: [Charge] = []
    var events: [PurchaseEvent] = []
    var environment = StoreEnvironment.production
    var renewal = RenewalFacts(signedDate: Date(milliseconds: birth))
    var productType = "Auto-Renewable Subscription"
    var isFamilyShared = false
    var isPricePending = false
    var graceEnd: Int64?
    /// The grace periods so far, each until its end or until it was closed.
    var graces: [Grace] = []
    /// Whether a period ended without a notification.
    private(set) var hasChangedSilently = false
    /// Whether two steps happened in one millisecond, so that their order is unknown.
    private(set) var hasCoincidences = false
    /// Whether a status ran ahead of what was paid for.
    private(set) var hasContradictions = false
    private var speed = 0
    var oldPayloads = 0

    init(_ steps: [ScenarioStep]) {
        for step in steps { perform(step) }
    }

    // MARK: - Access

    /// The product that may be used at a moment; nil for none.
    func product(at moment: Int64) -> String? {
        if let charge = charges.last(where: { $0.entitles(at: moment) }) { return charge.facts.productId }
        return graces.last { $0.contains(moment) }?.productId
    }

    var moments: [Int64] {
        charges.flatMap { [$0.from, $0.end, $0.entitlesUntil, $0.refundedAt] }.compactMap(\.self) + [now]
            + graces.flatMap { [$0.from, $0.to] }
    }

    /// The newest charge that is neither refunded nor replaced.
    var current: Int {
        charges.lastIndex { $0.refundedAt == nil && !$0.isReplaced } ?? charges.count - 1
    }
    var end: Int64 { charges.isEmpty ? now : charges[current].end }
    var willRenew: Bool { renewal.autoRenewStatus ?? false }
    var hasBegun: Bool { charges[current].from <= now }
    /// How early Apple may charge for the next period.
    var earlyCharge: Int64 {
        environment == .production ? Self.day : min(60_000, (charges[current].end - charges[current].from) / 4)
    }

    func length(_ choice: Int) -> Int64 {
        environment == .production ? Self.periods[choice % 6] : Self.sandboxPeriods[speed][choice % 6]
    }

    private func status(at moment: Int64) -> Int? {
        if state == .oneTime { return nil }
        if charges.contains(where: { $0.entitles(at: moment) }) { return 1 }
        switch state {
        case .grace where graceEnd.map { moment < $0 } ?? false: return 4
        case .grace, .retry: return 3
        case .revoked: return 5
        default: return charges.last?.refundedAt == nil ? 2 : 5
        }
    }

    // MARK: - Time

    private mutating func perform(_ step: ScenarioStep) {
        let before = self
        let length = charges.isEmpty ? Self.day : max(1000, charges[current].end - charges[current].from)
        switch step.wait % 4 {
        case 0: now += Int64(step.wait) * 7
        case 1: now += Int64(step.wait) * min(length, 400 * Self.day) / 1500
        case 2 where state == .active && now < end - earlyCharge:
            now = end - earlyCharge * Int64(step.wait) / 1000
        default: now += Int64(step.wait) * min(length, 400 * Self.day) / 20_000
        }
        let state = state
        settle()
        if state != self.state { hasChangedSilently = true }
        guard happens(step) else {
            self = before
            return
        }
        let next = events.dropFirst(before.events.count).first
        if let last = before.events.last, last.version.signedDate == next?.version.signedDate { hasCoincidences = true }
    }

    /// Changes by the clock alone, without a notification.
    mutating func settle() {
        if state == .active, now >= end { state = willRenew ? .retry : .ended }
        if state == .grace, let graceEnd, now >= graceEnd {
            clearGrace()
            state = .retry
        }
        if state == .retry, now >= end + 60 * Self.day { state = .ended }
    }

    mutating func clearGrace() {
        if graceEnd != nil { graces[graces.count - 1].to = min(graces[graces.count - 1].to, now) }
        graceEnd = nil
        renewal.gracePeriodExpiresDate = nil
    }

    // MARK: - Notifications

    mutating func begin(_ choice: Int) {
        environment = choice % 3 == 0 ? .sandbox : .production
        speed = choice / 3 % 3
        isFamilyShared = choice / 11 % 5 == 0
        if choice / 13 % 12 == 0 { productType = "Subscription Bundle" }
        if choice / 17 % 5 == 0 { oldPayloads = choice / 19 % 12 }
    }

    /// - Parameter envelopes: notifications that Apple signs in the same moment, each about one charge.
    ///   - given: a status other than the one that the charges show.
    ///   - named: the charge that the renewal info is about, if it is not the newest one that counts.
    mutating func send(
        _ envelopes: [(type: String, charge: Int)], choice: Int, status given: Int? = nil, about named: Int? = nil
    ) {
        let next = (moments + [end + 60 * Self.day]).filter { $0 > now }.min() ?? .max
        let lag = min([0, 0, 1, 700, 3000][choice / 23 % 5], next - now - 1)
        let early = lag == 0 ? 0 : Int64(choice / 29) % (lag + 1)
        let parts = now + lag - early
        renewal.signedDate = Date(milliseconds: parts)
        if state != .oneTime {
            let newest =
                charges[named ?? (state == .active || state == .grace ? current : charges.count - 1)]
            renewal.renewalDate = Date(milliseconds: newest.end)
            renewal.productId = newest.facts.productId
        }
        now += lag
        let isPaidAhead = charges.contains {
            $0.from > now && $0.refundedAt == nil && $0.facts.purchaseDate != Date(milliseconds: $0.from)
        }
        if (given ?? status(at: now)) != status(at: now) || isPaidAhead { hasContradictions = true }
        let isOld = events.count < oldPayloads
        for envelope in envelopes {
            charges[envelope.charge].facts.signedDate = Date(milliseconds: parts)
            var transaction = charges[envelope.charge].facts
            var renewal: RenewalFacts? = state == .oneTime ? nil : renewal
            if isOld {
                transaction.reason = nil
                renewal?.renewalDate = nil
                renewal?.productId = nil
            }
            append(
                envelope.type, choice, status: isOld ? nil : given ?? status(at: now), transaction: transaction,
                renewal: renewal)
        }
    }

    mutating func resend(_ choice: Int) {
        let old = events[choice % events.count]
        guard old.part == nil else { return }
        now += 1
        append(
            old.eventName, choice, status: old.status == nil ? nil : status(at: now), transaction: old.transaction,
            renewal: old.renewal)
    }

    mutating func sign(transaction: Int?, choice: Int) {
        now += 1
        let signedDate = Date(milliseconds: now)
        if let transaction {
            charges[transaction].facts.signedDate = signedDate
            append("signedTransaction", choice, transaction: charges[transaction].facts)
        } else {
            renewal.signedDate = signedDate
            append("signedRenewalInfo", choice, renewal: renewal)
        }
    }

    private mutating func append(
        _ name: String, _ choice: Int, status: Int? = nil, transaction: TransactionFacts? = nil,
        renewal: RenewalFacts? = nil
    ) {
        var random = SeededGenerator(state: UInt64(choice) &* 1009 &+ UInt64(events.count))
        let (a, b) = (random.next(), random.next())
        func byte(_ word: UInt64, _ place: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: word >> (8 * place)) }
        let uuid = UUID(
            uuid: (
                byte(a, 0), byte(a, 1), byte(a, 2), byte(a, 3), byte(a, 4), byte(a, 5), byte(a, 6), byte(a, 7),
                byte(b, 0), byte(b, 1), byte(b, 2), byte(b, 3), byte(b, 4), byte(b, 5), byte(b, 6), byte(b, 7)
            ))
        let parts = name.split(separator: "/").map(String.init)
        events.append(
            PurchaseEvent(
                key: SubscriptionKey(environment: environment, originalTransactionId: "2000000000000001"),
                version: EventVersion(signedDate: Date(milliseconds: now), notificationUUID: uuid),
                bundleId: "com.example.metals", notificationType: parts[0],
                subtype: parts.count > 1 ? parts[1] : nil, status: status, transaction: transaction, renewal: renewal))
    }
}
