import struct Foundation.Date
import struct Foundation.TimeInterval

/// A grace period that Apple granted. It stays a fact after it is over, like a transaction.
///
/// [gracePeriodExpiresDate](https://developer.apple.com/documentation/appstoreserverapi/graceperiodexpiresdate)
public struct GracePeriod: Sendable, Hashable {
    /// The first moment after the grace period; it identifies the grace period within its purchase.
    public var endsAt: Date
    /// The end of the period whose renewal failed; nil where no payload names it.
    public var periodEndsAt: Date?
    /// The product of the newest renewal info that names the grace period.
    public var productId: String?
    /// When Apple signed that renewal info.
    public var signedDate: Date
    /// The event that delivered it.
    public var version: EventVersion
    /// The status in that event; nil where it has none.
    public var status: Int?

    package init(
        endsAt: Date, periodEndsAt: Date?, productId: String?, signedDate: Date, version: EventVersion, status: Int?
    ) {
        self.endsAt = endsAt
        self.periodEndsAt = periodEndsAt
        self.productId = productId
        self.signedDate = signedDate
        self.version = version
        self.status = status
    }
}

/// A moment at which Apple signed that a period is over, or revoked, and that no grace period runs.
public struct GraceDenial: Sendable, Hashable {
    /// The end of the newest period, as Apple names it.
    public var periodEndsAt: Date
    /// When Apple signed it; the revocation of that period if it is earlier.
    public var deniedAt: Date
    /// True where Apple's status is 2 or 5, false where a renewal info names no grace period.
    public var isByStatus: Bool

    package init(periodEndsAt: Date, deniedAt: Date, isByStatus: Bool) {
        self.periodEndsAt = periodEndsAt
        self.deniedAt = deniedAt
        self.isByStatus = isByStatus
    }

    /// True where Apple signed it since it named a grace period. A renewal info of the same moment without the grace period closes nothing.
    fileprivate func closes(_ grace: GracePeriod) -> Bool {
        deniedAt < grace.endsAt && (isByStatus ? grace.signedDate <= deniedAt : grace.signedDate < deniedAt)
    }
}

/// All grace periods of a purchase, and what closed them.
///
/// The order of arrival does not matter: of each grace period the newest renewal info and the latest end of its period count, and
/// of each period's denials the first ``denialsOfPeriod``.
public struct GraceHistory: Sendable, Equatable {
    /// In order of their ends.
    public private(set) var periods: [GracePeriod]
    /// In order of the ends of their periods, then of time.
    public private(set) var denials: [GraceDenial]

    /// The number of denials that are kept of one period. A grace period is closed by the first one after the renewal info that
    /// names it, and Apple signs few in the days after the end of a period.
    static let denialsOfPeriod = 4

    package init(periods: [GracePeriod] = [], denials: [GraceDenial] = []) {
        self.periods = periods
        self.denials = denials
    }

    /// Whether nothing is known of any grace period.
    public var isEmpty: Bool { periods.isEmpty && denials.isEmpty }

    /// When a grace period was closed before its end: by the first denial since the renewal info that names it. Nil where none did.
    public func closed(_ grace: GracePeriod) -> Date? {
        denials.filter { $0.closes(grace) }.map(\.deniedAt).min()
    }

    /// Adds what an event says.
    /// - Returns: whether it said anything new.
    mutating func join(_ event: PurchaseEvent) -> Bool {
        let known = self
        if let grace = GracePeriod(event) { add(grace) }
        if let denial = GraceDenial(event) { add(denial) }
        return self != known
    }

    private mutating func add(_ grace: GracePeriod) {
        guard let index = periods.firstIndex(where: { $0.endsAt == grace.endsAt }) else {
            periods.append(grace)
            periods.sort { $0.endsAt < $1.endsAt }
            return
        }
        let known = periods[index]
        if (known.signedDate, known.version) < (grace.signedDate, grace.version) { periods[index] = grace }
        periods[index].periodEndsAt = [known.periodEndsAt, grace.periodEndsAt].compactMap(\.self).max()
    }

    private mutating func add(_ denial: GraceDenial) {
        guard !denials.contains(denial) else { return }
        let ofPeriod = (denials.filter { $0.periodEndsAt == denial.periodEndsAt } + [denial])
            .sorted(by: GraceDenial.isEarlier).prefix(Self.denialsOfPeriod)
        denials = (denials.filter { $0.periodEndsAt != denial.periodEndsAt } + ofPeriod)
            .sorted(by: GraceDenial.isEarlier)
    }
}

extension GracePeriod {
    /// Nil where the event names no grace period.
    fileprivate init?(_ event: PurchaseEvent) {
        guard let renewal = event.applicableRenewal, let end = renewal.gracePeriodExpiresDate else { return nil }
        // Older payloads do not name the period's end.
        let period = renewal.renewalDate ?? (event.mayHoldOlderTransaction ? nil : event.transaction?.expiresDate)
        self.init(
            endsAt: end, periodEndsAt: period.flatMap { $0 < end ? $0 : nil }, productId: renewal.productId,
            signedDate: renewal.signedDate, version: event.version, status: event.status)
    }
}

extension GraceDenial {
    /// Denials are in order of the ends of their periods, then of time; one by status precedes another of the same moment.
    private var rank: (Date, Date, Int) { (periodEndsAt, deniedAt, isByStatus ? 0 : 1) }

    fileprivate static func isEarlier(_ left: Self, _ right: Self) -> Bool { left.rank < right.rank }

    /// Nil where the period goes on, or may have a grace period. Status 3 is no denial: Apple retries the charge in a grace
    /// period, too.
    fileprivate init?(_ event: PurchaseEvent) {
        let renewal = event.applicableRenewal
        let isDenied = event.status == 2 || event.status == 5
        guard isDenied || renewal.map({ $0.gracePeriodExpiresDate == nil }) ?? false,
            let end = renewal?.renewalDate ?? event.transaction?.expiresDate
        else { return nil }
        let signed = isDenied ? event.version.signedDate : renewal?.signedDate ?? event.version.signedDate
        // Only the notification of a revocation is surely about it: others may hold an older transaction, or refunded seats.
        let isOfPeriod =
            event.eventType == .refunded || event.eventType == .familyAccessRevoked
            || (renewal?.renewalDate != nil && event.transaction?.additionalTransactionReason == nil)
        var revoked = event.transaction.flatMap { isOfPeriod && $0.expiresDate == end ? $0.revokedAt : nil }
        if let renewal, renewal.gracePeriodExpiresDate != nil, let date = revoked, date <= renewal.signedDate {
            // Named since, the grace period outlived it: other seats of the period were paid.
            revoked = nil
        }
        let denied = min(signed, revoked ?? signed)
        // A revocation denies it also before the end, where Apple had named it early.
        guard end <= denied || revoked != nil || event.status == 5,
            denied.timeIntervalSince(end) < BillingRules.longestGrace
        else { return nil }
        self.init(periodEndsAt: end, deniedAt: denied, isByStatus: isDenied)
    }
}
