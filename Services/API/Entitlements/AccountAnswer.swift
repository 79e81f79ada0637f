import Contracts
import Signatures
import Storage
import StrictJSON
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// What one account may use at a moment, made from the lines of the one statement. No I/O.
struct AccountAnswer: Sendable {
    typealias Line = EntitlementStore.Line

    let account: UUID
    let environment: StoreEnvironment
    let moment: Date
    /// The periods that contain the moment; what follows without a break with the same product is joined.
    let entitlements: [Line]
    /// Purchases of the account that give it no access at the moment.
    let withheld: [Line]
    /// The next moment at which the answer changes by the clock alone.
    let changesAt: Date?
    /// Rises with every change of what is stored about these purchases and grants.
    let version: Int64

    /// - Parameter lines: of this account, as the statement orders them.
    init(of account: UUID, in environment: StoreEnvironment, lines: [Line], at moment: Date) {
        self.account = account
        self.environment = environment
        self.moment = moment
        let periods = Self.joined(lines.filter { $0.source != .purchase && $0.startsAt != nil })
        entitlements = periods.filter { $0.contains(moment) }
        let giving = Set(entitlements.filter { $0.source == .access }.map(\.id))
        withheld = lines.filter { $0.source == .purchase && !giving.contains($0.id) }
        changesAt = periods.flatMap { [$0.startsAt, $0.endsAt] }.compactMap { $0 }.filter { $0 > moment }.min()
        var revisions: [String: Int64] = [:]
        for line in lines { revisions["\(line.source == .grant) \(line.id)"] = line.revision }
        version = revisions.values.reduce(0, +)
    }

    /// Periods of one purchase that follow each other with the same product, as one.
    private static func joined(_ periods: [Line]) -> [Line] {
        periods.reduce(into: []) { joined, line in
            if let last = joined.last, last.source == line.source, last.id == line.id, last.bundleId == line.bundleId,
                last.productId == line.productId, last.reason == line.reason, let end = last.endsAt,
                end == line.startsAt
            {
                joined[joined.count - 1].endsAt = line.endsAt
            } else {
                joined.append(line)
            }
        }
    }

    /// - Parameter states: of the withheld purchases, by id.
    func write(to json: inout JSONWriter, states: [String: SubscriptionState]) {
        json.member("appAccountToken", account.uuidString.lowercased())
        json.member("environment", environment.rawValue)
        json.member("version", version)
        json.member("changesAt", changesAt?.milliseconds)
        json.beginArray("entitlements")
        for line in entitlements { write(line, to: &json) }
        json.endArray()
        json.beginArray("withheld")
        for line in withheld {
            json.beginObject()
            json.member("bundleId", line.bundleId)
            json.member("originalTransactionId", line.id)
            json.member("reason", Self.reason(states[line.id]))
            json.endObject()
        }
        json.endArray()
    }

    private func write(_ line: Line, to json: inout JSONWriter) {
        json.beginObject()
        json.member("name", line.productId)
        json.member("productId", line.productId)
        json.member("bundleId", line.bundleId)
        json.member("givesAccess", true)
        json.member("startsAt", line.startsAt?.milliseconds)
        json.member("until", line.endsAt?.milliseconds)
        json.member("reason", line.reason)
        json.member("ownership", line.ownership)
        json.member("willRenew", line.isAutoRenewing)
        json.member("originalTransactionId", line.source == .access ? line.id : nil)
        json.member("transactionId", line.transactionId)
        json.member("grantId", line.source == .grant ? line.id : nil)
        if let uuid = line.notificationUUID {
            json.beginObject("because")
            json.member("notificationUUID", uuid.uuidString.lowercased())
            json.member("signedDate", line.signedAt?.milliseconds)
            json.endObject()
        } else {
            json.member("because", nil as String?)
        }
        json.endObject()
    }

    /// A purchase that gives access, only not to this account, is another account's.
    private static func reason(_ state: SubscriptionState?) -> String {
        switch state {
        case .active, .gracePeriod, .owned: "otherAccount"
        case let state?: state.rawValue
        case nil: SubscriptionState.unknown.rawValue
        }
    }
}
