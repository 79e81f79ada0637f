import AppStore
import Contracts
import Foundation
import Testing

@testable import SimulatedAppStore

@Suite struct PopulationTests {
    static let now = Date(milliseconds: 1_790_000_000_000)
    static let apps = [
        App(bundleId: "com.example.one", appAppleId: 1, environment: .production),
        App(bundleId: "com.example.two", appAppleId: 2, environment: .sandbox),
    ]
    static let seeds: [UInt64] = [1, 2, 3, 42, 4_711, .max]

    static func events(_ count: Int, seed: UInt64, now: Date = now, timeScale: Double = 1) -> [EventPayload] {
        var population = Population(
            apps: apps, size: 50, conditions: Conditions(timeScale: timeScale), seed: seed, now: now)
        return (0..<count).map { _ in population.next(now: now) }
    }

    /// Apple's statuses before and after each kind of notification.
    static let statuses: [NotificationKind: (Set<Int>, Set<Int>)] = [
        NotificationKind("DID_RENEW"): ([1], [1]),
        NotificationKind("DID_RENEW", "EARLY_BIRD"): ([1], [1]),
        // Failed charges are announced up to a day early, when the paid period still runs.
        NotificationKind("DID_RENEW", "BILLING_RECOVERY"): ([1, 3, 4], [1]),
        NotificationKind("DID_FAIL_TO_RENEW"): ([1], [3]),
        NotificationKind("DID_FAIL_TO_RENEW", "GRACE_PERIOD"): ([1], [1, 4]),
        NotificationKind("GRACE_PERIOD_EXPIRED"): ([1, 4], [3]),
        NotificationKind("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"): ([1], [1]),
        NotificationKind("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"): ([1], [1]),
        NotificationKind("DID_CHANGE_RENEWAL_PREF", "UPGRADE"): ([1], [1]),
        NotificationKind("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE"): ([1], [1]),
        NotificationKind("DID_CHANGE_RENEWAL_PREF"): ([1], [1]),
        NotificationKind("OFFER_REDEEMED"): ([1], [1]),
        NotificationKind("OFFER_REDEEMED", "UPGRADE"): ([1], [1]),
        NotificationKind("OFFER_REDEEMED", "DOWNGRADE"): ([1], [1]),
        NotificationKind("PRICE_INCREASE", "PENDING"): ([1], [1]),
        NotificationKind("PRICE_INCREASE", "ACCEPTED"): ([1], [1]),
        NotificationKind("EXPIRED"): ([1], [2]),
        NotificationKind("EXPIRED", "VOLUNTARY"): ([1], [2]),
        NotificationKind("EXPIRED", "PRICE_INCREASE"): ([1], [2]),
        NotificationKind("EXPIRED", "PRODUCT_NOT_FOR_SALE"): ([1], [2]),
        NotificationKind("EXPIRED", "BILLING_RETRY"): ([3], [2]),
        NotificationKind("SUBSCRIBED", "RESUBSCRIBE"): ([2, 5], [1]),
        NotificationKind("CONSUMPTION_REQUEST"): ([1], [1]),
        NotificationKind("REFUND_DECLINED"): ([1], [1]),
        // The refund of an older period changes nothing else.
        NotificationKind("REFUND"): ([1, 2], [1, 2, 5]),
        NotificationKind("REFUND_REVERSED"): ([5], [1, 2]),
        NotificationKind("RENEWAL_EXTENDED"): ([1], [1]),
        NotificationKind("RENEWAL_EXTENSION", "FAILURE"): ([1], [1]),
        NotificationKind("REVOKE"): ([1, 4], [5]),
        NotificationKind("UNCLAIM_SEATS"): ([1], [1]),
        NotificationKind("DID_CHANGE_RENEWAL_PREF", "INCREASE_QUANTITY"): ([1], [1]),
        NotificationKind("REFUND", "SEATS"): ([1], [1]),
        NotificationKind("METADATA_UPDATE"): ([1], [1]),
        NotificationKind("MIGRATION"): ([1], [1]),
        NotificationKind("PRICE_CHANGE"): ([1], [1]),
        NotificationKind("SUBSCRIPTION_GIFTED", "BIRTHDAY"): ([1], [1]),
    ]

    @Test(arguments: seeds)
    func `Every purchase follows Apple's event table from its first event on`(seed: UInt64) throws {
        var newest: [String: EventPayload] = [:]
        for event in Self.events(4_000, seed: seed) where event.renewal != nil {
            let id = try #require(event.purchase?.originalTransactionId)
            let status = try #require(event.status)
            if let before = newest[id] {
                let (from, to) = try #require(Self.statuses[event.kind])
                #expect(from.contains(try #require(before.status)), "\(before.kind) → \(event.kind)")
                #expect(to.contains(status), "\(event.kind)")
            } else {
                #expect(event.kind == NotificationKind("SUBSCRIBED", "INITIAL_BUY"))
                #expect(event.purchase?.transactionId == id)
            }
            newest[id] = event
        }
        #expect(newest.count > 50)
    }

    @Test(arguments: seeds)
    func `Dates are in order and accepted by a verifier`(seed: UInt64) throws {
        var newest: [String: EventPayload] = [:]
        for event in Self.events(4_000, seed: seed) {
            #expect(event.signedDate <= Self.now)
            #expect(event.signedDate > Self.now - 400 * 86_400)
            guard let purchase = event.purchase else { continue }
            #expect(purchase.originalPurchaseDate <= purchase.purchaseDate)
            // A renewal is charged up to a day before its period begins.
            #expect(purchase.purchaseDate <= event.signedDate + (purchase.reason == .renewal ? 86_400 : 0))
            if let end = purchase.expiresDate { #expect(end > purchase.purchaseDate) }
            if let revoked = purchase.revocation { #expect(revoked.date <= event.signedDate) }
            if let before = newest[purchase.originalTransactionId] {
                #expect(before.signedDate < event.signedDate)
            }
            newest[purchase.originalTransactionId] = event
        }
    }

    @Test(arguments: seeds)
    func `Ids are unique and stay with their owner`(seed: UInt64) {
        let events = Self.events(4_000, seed: seed)
        #expect(Set(events.map(\.uuid)).count == events.count)
        var owners: [String: String] = [:]
        var customers: [String: Customer] = [:]
        for event in events {
            guard let purchase = event.purchase, let customer = event.customer else { continue }
            let owner = owners[purchase.transactionId, default: purchase.originalTransactionId]
            #expect(owner == purchase.originalTransactionId)
            owners[purchase.transactionId] = purchase.originalTransactionId
            #expect(customers[purchase.originalTransactionId, default: customer] == customer)
            customers[purchase.originalTransactionId] = customer
        }
    }

    @Test func `New transaction appears only with a charge`() {
        var known: [String: Set<String>] = [:]
        let purchases: Set<NotificationKind> = [
            NotificationKind("DID_RENEW"), NotificationKind("DID_RENEW", "EARLY_BIRD"),
            NotificationKind("DID_RENEW", "BILLING_RECOVERY"), NotificationKind("SUBSCRIBED", "RESUBSCRIBE"),
            NotificationKind("DID_CHANGE_RENEWAL_PREF", "UPGRADE"), NotificationKind("OFFER_REDEEMED", "UPGRADE"),
            NotificationKind("DID_CHANGE_RENEWAL_PREF", "INCREASE_QUANTITY"),
        ]
        for event in Self.events(10_000, seed: 9) {
            guard let purchase = event.purchase else { continue }
            if let before = known[purchase.originalTransactionId] {
                #expect(!before.contains(purchase.transactionId) == purchases.contains(event.kind))
            }
            known[purchase.originalTransactionId, default: []].insert(purchase.transactionId)
        }
    }

    @Test func `Every event that can happen happens`() {
        let seen = Set(Self.events(20_000, seed: 1).map(\.kind))
        let ofApps: [NotificationKind] = [
            .test, .extensionSummary, NotificationKind("EXTERNAL_PURCHASE_TOKEN", "CREATED"),
            NotificationKind("EXTERNAL_PURCHASE_TOKEN", "ACTIVE_TOKEN_REMINDER"),
            NotificationKind("EXTERNAL_PURCHASE_TOKEN", "UNREPORTED"), NotificationKind("RESCIND_CONSENT"),
            NotificationKind("GIFT_OFFERED"),
        ]
        #expect(seen == Set(LifecycleEvent.allCases.map(\.kind) + ofApps))
    }

    @Test(arguments: seeds)
    func `Expected access agrees with Apple's status at each moment`(seed: UInt64) throws {
        var access: [String: [ExpectedAccess.Period]] = [:]
        for event in Self.events(8_000, seed: seed) {
            guard let id = event.purchase?.originalTransactionId else { continue }
            if let periods = event.access { access[id] = periods }
            guard let status = event.status else { continue }
            let covering = (access[id] ?? []).filter {
                $0.start <= event.signedDate && $0.end.map { event.signedDate < $0 } ?? true
            }
            #expect(covering.count == ([1, 4].contains(status) ? 1 : 0), "\(event.kind) \(status)")
        }
    }

    @Test(arguments: [1, 7, 42] as [UInt64])
    func `Every documented kind occurs among 20,000 notifications, in both environments`(seed: UInt64) {
        var coverage = Coverage()
        let environments = [StoreEnvironment.production, .sandbox]
        let apps = environments.map { App(bundleId: "com.example.app", appAppleId: 1, environment: $0) }
        var population = Population(apps: apps, size: 2_000, seed: seed, now: Self.now)
        for _ in 0..<20_000 { coverage.add(population.next(now: Self.now)) }
        let missing = coverage.missing(in: environments)
        #expect(missing.isEmpty, "\(missing)")
    }

    @Test func `Table of the coverage has no zero where nothing is missing`() {
        var coverage = Coverage()
        let environments = [StoreEnvironment.production, .sandbox]
        let apps = environments.map { App(bundleId: "com.example.app", appAppleId: 1, environment: $0) }
        var population = Population(apps: apps, size: 2_000, seed: 1, now: Self.now)
        for _ in 0..<20_000 { coverage.add(population.next(now: Self.now)) }
        let rows = CoverageCommand.table(of: coverage, in: environments)
        #expect(rows.count == coverage.keys.count + 1)
        #expect(!rows.contains { $0.split(separator: " ").contains("0") })
        let none = CoverageCommand.table(of: Coverage(), in: environments)
        #expect(none.dropFirst().allSatisfy { $0.hasSuffix(" 0") })
    }

    @Test func `Equal seeds and moments produce equal notifications, down to the ids`() {
        #expect(Self.events(2_000, seed: 5) == Self.events(2_000, seed: 5))
    }

    @Test func `Another seed produces other notifications`() {
        #expect(Self.events(500, seed: 5).map(\.kind) != Self.events(500, seed: 6).map(\.kind))
    }

    @Test func `Same seed at another moment produces other ids`() {
        let uuids = Set(Self.events(2_000, seed: 5).map(\.uuid))
        let later = Self.events(2_000, seed: 5, now: Self.now + 1)
        #expect(uuids.isDisjoint(with: later.map(\.uuid)))
    }

    @Test func `Faster time scale produces longer lifecycles`() {
        func longest(_ scale: Double) -> Int {
            let ids = Self.events(8_000, seed: 3, timeScale: scale).compactMap(\.purchase?.originalTransactionId)
            return Dictionary(grouping: ids) { $0 }.values.map(\.count).max() ?? 0
        }
        #expect(longest(1_000) > longest(1))
    }

    @Test func `Forged refund is about an existing purchase and leaves it alone`() {
        var plain = Population(apps: Self.apps, size: 5, seed: 8, now: Self.now)
        for _ in 0..<100 { _ = plain.next(now: Self.now) }
        var visited = plain
        let counterfeit = visited.counterfeit(now: Self.now)
        #expect(counterfeit.purchase != nil)
        #expect(counterfeit.kind == .refund)
        let ids = (0..<200).compactMap { _ in visited.next(now: Self.now).purchase?.originalTransactionId }
        #expect(ids.contains { $0 == counterfeit.purchase?.originalTransactionId })
    }

    @Test func `Extended subscription goes on from its new end`()
        throws
    {
        var population = Population(apps: [Self.apps[0]], size: 3, seed: 5, now: Self.now)
        var newest: [String: EventPayload] = [:]
        for _ in 0..<200 {
            let event = population.next(now: Self.now)
            // In a refund flow the transaction is not the newest.
            guard let id = event.purchase?.originalTransactionId, event.renewal != nil else { continue }
            newest[id] = [.subscribed, .didRenew].contains(event.kind.type) ? event : nil
        }
        let active = newest.values.filter { $0.status == 1 }.sorted { $0.signedDate < $1.signedDate }
        let extended = population.extend(active, byDays: 7, now: Self.now)
        #expect(!active.isEmpty)
        for (before, after) in zip(active, extended) {
            let after = try #require(after)
            let days = try #require(after.purchase?.expiresDate).timeIntervalSince(
                try #require(before.purchase?.expiresDate))
            #expect(after.kind == .extended)
            #expect(days == TimeScale(environment: after.app.environment, scale: 1).scaled(7 * 86_400))
            #expect(after.signedDate > before.signedDate)
            #expect(after.uuid != before.uuid)
        }
        // No renewal comes before the new end.
        let ends = Dictionary(
            uniqueKeysWithValues: extended.compactMap { event in
                (event?.purchase).map { ($0.originalTransactionId, $0) }
            })
        var renewals = 0
        for _ in 0..<200 {
            let event = population.next(now: Self.now.adding(400 * 86_400))
            guard event.kind == NotificationKind("DID_RENEW"), let id = event.purchase?.originalTransactionId,
                let before = ends[id], event.purchase?.transactionId != before.transactionId
            else { continue }
            renewals += 1
            #expect(try event.signedDate >= #require(before.expiresDate) - 86_400)
        }
        #expect(renewals > 0)
    }

    @Test func `Announcement that changes nothing has a date of its own`() throws {
        var population = Population(apps: [Self.apps[0]], size: 1, seed: 7, now: Self.now)
        var dates: [String: [Date]] = [:]
        for _ in 0..<50 {
            let event = population.next(now: Self.now)
            guard event.renewal != nil, event.kind.type == .subscribed || event.kind.type == .didRenew,
                let id = event.purchase?.originalTransactionId
            else { continue }
            let said = try #require(population.announce(.extensionFailure, about: [event]).first)
            #expect(said.purchase == event.purchase && said.status == event.status)
            #expect(said.kind == .extensionFailure)
            dates[id, default: []] += [event.signedDate, said.signedDate]
        }
        #expect(!dates.isEmpty)
        #expect(dates.values.allSatisfy { zip($0, $0.dropFirst()).allSatisfy { $0 < $1 } })
    }

    @Test func `App account token is on all later events of the purchase`() throws {
        var population = Population(apps: [Self.apps[0]], size: 2, seed: 6, now: Self.now)
        var assigned: [String: EventPayload] = [:]
        let token = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
        for _ in 0..<20 {
            let event = population.next(now: Self.now)
            guard event.renewal != nil, let id = event.purchase?.originalTransactionId else { continue }
            if assigned[id] == nil {
                population.assign(token, to: id)
            } else {
                #expect(event.customer?.appAccountToken == token)
            }
            assigned[id] = event
        }
        #expect(assigned.count < 20)
    }
}

/// Apple's own spelling, written out: the table above is compared with what is on the wire, not with our constants.
extension NotificationKind {
    fileprivate init(_ type: String, _ subtype: String? = nil) {
        self.init(NotificationType(rawValue: type), subtype.map { NotificationSubtype(rawValue: $0) })
    }
}
