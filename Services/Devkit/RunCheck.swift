import Contracts

/// Compares the simulator's run record with the ledger, dead letters and state, notification by notification. Pure.
struct RunCheck: Sendable {
    /// A notification as the ledger has it.
    struct Entry: Sendable, Equatable {
        /// Lower case.
        var uuid: String
        var notificationType: String
        var subtype: String?
        var environment: StoreEnvironment
        var bundleId: String
        var originalTransactionId: String?
        var transactionId: String?
        /// Milliseconds since 1970.
        var signedDate: Int64?
    }

    /// A dead letter.
    struct Rejected: Sendable, Equatable {
        /// Lower case; nil where it is unreadable.
        var uuid: String?
        var reason: String
    }

    typealias FinalStates = [RunRecord.Purchase: RunRecord.Facts]

    var ledger: [Entry]
    /// Uuids that were in the ledger before the run; ignored.
    var before: Set<String> = []
    var rejected: [Rejected]
    var finalStates: FinalStates
    /// Purchases whose status is not compared: Apple's API answered it, as of the question, which is later than every
    /// notification of compressed time.
    var statusesByAnswer: Set<RunRecord.Purchase> = []
    /// When purchases give access; nil where the simulator was stopped: what --reorder held back then, it never sent.
    var access: [RunRecord.Purchase: [RunRecord.AccessPeriod]]?
    /// Notifications that took effect twice.
    var effectsTwice: [String] = []
    /// Nil where refund requests are not compared.
    var refunds: RefundCheck?

    /// Compares.
    func against(_ record: RunRecord) -> CheckFindings {
        var findings = CheckFindings()
        let entries = Dictionary(grouping: ledger, by: \.uuid)
        let deadLetters = Dictionary(grouping: rejected.filter { $0.uuid != nil }, by: { $0.uuid ?? "" })
        for notification in record.notifications {
            let arrival = record.arrival(of: notification.uuid)
            let found = entries[notification.uuid] ?? []
            let rejections = deadLetters[notification.uuid] ?? []
            findings.sent += 1
            findings.repetitions += record.attempts[notification.uuid]?.count(where: \.isRepetition) ?? 0
            if let reason = notification.expectedRejection {
                findings.forged += 1
                judgeForged(notification, reason, arrival, isStored: !found.isEmpty, rejections, &findings)
            } else {
                judgeGenuine(notification, arrival, found, rejections, &findings)
            }
        }
        let known = Set(record.notifications.map(\.uuid))
        findings.unexpected += ledger.map(\.uuid).filter { !known.contains($0) && !before.contains($0) }
        findings.effectsTwice += effectsTwice
        compareFacts(with: record, stored: Set(entries.keys), &findings)
        if let access { compare(access, with: record, stored: Set(entries.keys), &findings) }
        refunds?.compare(with: record, stored: Set(entries.keys), &findings)
        return findings
    }

    private func compare(
        _ access: [RunRecord.Purchase: [RunRecord.AccessPeriod]], with record: RunRecord, stored: Set<String>,
        _ findings: inout CheckFindings
    ) {
        for (purchase, expected) in record.expectedAccess(where: stored.contains) {
            findings.accesses += 1
            let check = AccessCheck(
                expected: expected.periods, found: access[purchase] ?? [], followedUntil: expected.followedUntil)
            if let difference = check.difference(of: Self.name(purchase)) { findings.differences.append(difference) }
        }
    }

    private func judgeGenuine(
        _ notification: RunRecord.Notification, _ arrival: RunRecord.Arrival, _ found: [Entry],
        _ rejections: [Rejected], _ findings: inout CheckFindings
    ) {
        if let entry = found.first {
            findings.inLedger += 1
            if found.count > 1 { findings.effectsTwice.append(notification.uuid) }
            findings.differences += Self.differences(between: notification, and: entry)
        } else if arrival == .certain, rejections.isEmpty {
            findings.missing.append(notification.uuid)
        } else if rejections.isEmpty {
            findings.notAccepted += 1
        }
        if let rejection = rejections.first {
            findings.wronglyRejected.append("\(notification.uuid): \(rejection.reason)")
        }
    }

    private func judgeForged(
        _ notification: RunRecord.Notification, _ reason: String, _ arrival: RunRecord.Arrival, isStored: Bool,
        _ rejections: [Rejected], _ findings: inout CheckFindings
    ) {
        if isStored { findings.forgedInLedger.append(notification.uuid) }
        if let rejection = rejections.first {
            findings.rejectedByReason[rejection.reason, default: 0] += 1
            if rejection.reason != reason {
                findings.differences.append(
                    Difference(of: notification.uuid, field: "reason", expected: reason, found: rejection.reason))
            }
        } else if arrival == .certain {
            findings.forgedMissing.append(notification.uuid)
        } else {
            findings.notAccepted += 1
        }
    }

    private func compareFacts(with record: RunRecord, stored: Set<String>, _ findings: inout CheckFindings) {
        for (purchase, facts) in record.expectedFacts(where: stored.contains) {
            findings.purchases += 1
            let name = Self.name(purchase)
            guard let found = finalStates[purchase] else {
                findings.differences.append(
                    Difference(of: name, field: "purchase", expected: "is known", found: "is not known"))
                continue
            }
            var expected = facts
            if statusesByAnswer.contains(purchase) { expected.status = found.status }
            findings.differences += Self.differences(of: name, between: expected, and: found)
        }
    }

    private static func name(_ purchase: RunRecord.Purchase) -> String {
        "\(purchase.environment.rawValue) \(purchase.originalTransactionId)"
    }

    private static func differences(
        between notification: RunRecord.Notification, and entry: Entry
    ) -> [Difference] {
        let pairs: [(String, String?, String?)] = [
            ("notificationType", notification.notificationType, entry.notificationType),
            ("subtype", notification.subtype, entry.subtype),
            ("environment", notification.environment.rawValue, entry.environment.rawValue),
            ("bundleId", notification.bundleId, entry.bundleId),
            ("originalTransactionId", notification.originalTransactionId, entry.originalTransactionId),
            ("transactionId", notification.transactionId, entry.transactionId),
            ("signedDate", String(notification.signedDate), entry.signedDate.map { String($0) }),
        ]
        return differences(of: notification.uuid, in: pairs)
    }

    private static func differences(
        of name: String, between expected: RunRecord.Facts, and found: RunRecord.Facts
    ) -> [Difference] {
        func pair<Value>(_ field: String, _ path: KeyPath<RunRecord.Facts, Value?>) -> (String, String?, String?) {
            (field, expected[keyPath: path].map { "\($0)" }, found[keyPath: path].map { "\($0)" })
        }
        return differences(
            of: name,
            in: [
                pair("status", \.status),
                ("productId", expected.productId, found.productId),
                ("purchaseDate", String(expected.purchaseDate), String(found.purchaseDate)),
                pair("expiresDate", \.expiresDate),
                pair("revocationDate", \.revocationDate),
                pair("revocationReason", \.revocationReason),
                pair("appAccountToken", \.appAccountToken),
                pair("autoRenewStatus", \.autoRenewStatus),
                pair("autoRenewProductId", \.autoRenewProductId),
                pair("isInBillingRetryPeriod", \.isInBillingRetryPeriod),
                pair("gracePeriodExpiresDate", \.gracePeriodExpiresDate),
                pair("expirationIntent", \.expirationIntent),
            ])
    }

    private static func differences(
        of name: String, in pairs: [(field: String, expected: String?, found: String?)]
    ) -> [Difference] {
        pairs.filter { $0.expected != $0.found }
            .map { Difference(of: name, field: $0.field, expected: $0.expected, found: $0.found) }
    }
}
