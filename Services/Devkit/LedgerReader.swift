import Contracts
import Foundation
import Postgres
import Storage
import Subscriptions

/// Reads a run's results from the database, for the comparison and the live view.
struct LedgerReader: Sendable {
    let connection: PostgresConnection

    /// Lower-case uuids of everything in the ledger.
    func uuids() async throws -> Set<String> {
        var uuids: Set<String> = []
        try await NotificationStore(connection).forEach { uuids.insert($0.notificationUUID.uuidString.lowercased()) }
        return uuids
    }

    /// The recovery status.
    func recovery() async throws -> RunReport.Recovery {
        let status = try await CoverageStore(connection).status()
        return RunReport.Recovery(
            windows: Dictionary(uniqueKeysWithValues: status.windows.map { ($0.key.rawValue, $0.value) }),
            missing: status.missing.values.reduce(0, +))
    }

    func count() async throws -> Int { try await StatusStore(connection).notifications() }

    func entries() async throws -> [RunCheck.Entry] {
        var entries: [RunCheck.Entry] = []
        try await NotificationStore(connection).forEach { line in
            // Objects from a customer's history are not notifications.
            guard SignedPart(rawValue: line.notificationType) == nil else { return }
            entries.append(
                RunCheck.Entry(
                    uuid: line.notificationUUID.uuidString.lowercased(), notificationType: line.notificationType,
                    subtype: line.subtype, environment: line.environment, bundleId: line.bundleId,
                    originalTransactionId: line.originalTransactionId, transactionId: line.transactionId,
                    signedDate: line.signedDate?.milliseconds))
        }
        return entries
    }

    func finalStates() async throws -> RunCheck.FinalStates {
        var states: RunCheck.FinalStates = [:]
        for subscription in try await SubscriptionStore(connection).all() {
            states[RunRecord.Purchase(subscription.key)] = RunRecord.Facts(subscription)
        }
        return states
    }

    /// The purchases whose newest status is from an answer of Apple's API, and not from a notification.
    func statusesByAnswer() async throws -> Set<RunRecord.Purchase> {
        var answers: Set<UUID> = []
        try await NotificationStore(connection).forEach { line in
            if SignedPart(rawValue: line.notificationType) != nil { answers.insert(line.notificationUUID) }
        }
        let subscriptions = try await SubscriptionStore(connection).all().filter { subscription in
            subscription.statusVersion.map { answers.contains($0.notificationUUID) } ?? false
        }
        return Set(subscriptions.map { RunRecord.Purchase($0.key) })
    }

    /// When every purchase gives access.
    func access() async throws -> [RunRecord.Purchase: [RunRecord.AccessPeriod]] {
        var access: [RunRecord.Purchase: [RunRecord.AccessPeriod]] = [:]
        for period in try await AccessStore(connection).all() {
            access[RunRecord.Purchase(period.key), default: []].append(
                RunRecord.AccessPeriod(
                    productId: period.productId, startsAt: period.startsAt.milliseconds,
                    endsAt: period.endsAt?.milliseconds,
                    isGrace: period.reason == AccessPeriod.Reason.gracePeriod.rawValue))
        }
        return access
    }

    /// Notifications that changed one purchase twice, except those from before the run.
    func effectsTwice(except before: Set<String>) async throws -> [String] {
        struct Effect: Hashable {
            var uuid: UUID
            var key: SubscriptionKey
        }
        var counts: [Effect: Int] = [:]
        for row in try await TimelineStore(connection).newest(.max) {
            counts[Effect(uuid: row.notificationUUID, key: row.key), default: 0] += 1
        }
        let twice = Set(counts.filter { $0.value > 1 }.map { $0.key.uuid.uuidString.lowercased() })
        return twice.subtracting(before).sorted()
    }

    /// Latency of the newest notifications; nil if there are none.
    func latency(ofLast limit: Int) async throws -> Snapshot.Latency? {
        let milliseconds = try await StatusStore(connection).latencies(ofLast: limit)
            .map { ($0 * 1000).rounded() }.sorted()
        guard let p50 = milliseconds.percentile(0.5), let p95 = milliseconds.percentile(0.95),
            let max = milliseconds.last
        else { return nil }
        return Snapshot.Latency(p50: p50, p95: p95, max: max)
    }

    /// Newest first. Changed facts only: every new subscription sets a dozen facts for the first time.
    func newestChanges(_ limit: Int) async throws -> [Snapshot.TimelineRow] {
        let newest = try await TimelineStore(connection).newest(2 * limit).flatMap { row in
            row.changes.map { change in
                Snapshot.TimelineRow(
                    at: row.appliedAt, purchase: "\(row.key.environment.rawValue) \(row.key.originalTransactionId)",
                    fact: change.fact, from: change.from, to: change.to)
            }
        }
        let changes = newest.filter { $0.from != nil }
        return Array((changes.isEmpty ? newest : changes).prefix(limit))
    }
}

extension RunRecord.Purchase {
    fileprivate init(_ key: SubscriptionKey) {
        self.init(environment: key.environment, originalTransactionId: key.originalTransactionId)
    }
}

extension RunRecord.Facts {
    /// The state of a purchase in the run record's form, whose `productId` and `purchaseDate` are never absent.
    init(_ subscription: Subscription) {
        let transaction = subscription.transaction
        let renewal = subscription.renewal
        self.init(
            status: subscription.status, productId: transaction?.productId ?? "(unknown)",
            purchaseDate: transaction?.purchaseDate?.milliseconds ?? 0,
            expiresDate: transaction?.expiresDate?.milliseconds,
            revocationDate: transaction?.revocationDate?.milliseconds,
            revocationReason: transaction?.revocationReason, appAccountToken: transaction?.appAccountToken,
            autoRenewStatus: renewal?.autoRenewStatus.map { $0 ? 1 : 0 },
            autoRenewProductId: renewal?.autoRenewProductId, isInBillingRetryPeriod: renewal?.isInBillingRetry,
            gracePeriodExpiresDate: renewal?.gracePeriodExpiresDate?.milliseconds,
            expirationIntent: renewal?.expirationIntent)
    }
}
