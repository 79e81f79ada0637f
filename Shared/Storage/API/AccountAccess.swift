import Contracts
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// What one account may use at a moment, made from the lines of the one statement. No I/O.
package struct AccountAccess: Sendable {
    package typealias Line = EntitlementStore.Line

    package let account: UUID
    package let environment: StoreEnvironment
    package let moment: Date
    /// What the account may use, each for one name.
    package struct Entitlement: Sendable {
        /// What the app calls it; the product's id where the app has no name for it.
        package var name: String
        /// What gives it.
        package var line: Line
    }

    /// The periods that contain the moment; what follows without a break with the same product is joined. One with several
    /// names is several.
    package let entitlements: [Entitlement]
    /// Purchases of the account that give it no access at the moment.
    package let withheld: [Line]
    /// The next moment at which the answer changes by the clock alone.
    package let changesAt: Date?
    /// Rises with every change of what is stored about these purchases and grants.
    package let version: Int64

    /// - Parameters:
    ///   - lines: of this account, as the statement orders them.
    ///   - definitions: of its apps, and perhaps of others.
    package init(
        of account: UUID, in environment: StoreEnvironment, lines: [Line], definitions: EntitlementDefinitions,
        at moment: Date
    ) {
        self.account = account
        self.environment = environment
        self.moment = moment
        func names(_ line: Line) -> [String] {
            guard line.source == .app else {
                return definitions.names(of: line.productId ?? "", line.bundleId, in: environment)
            }
            return definitions.names(ofVersion: line.reason ?? "", line.bundleId, in: environment)
        }
        let periods = Self.joined(lines.filter { $0.source != .purchase && $0.startsAt != nil })
        entitlements = periods.filter { $0.contains(moment) }.flatMap { line in
            names(line).map { Entitlement(name: $0, line: line) }
        }
        let giving = Set(entitlements.map(\.line).filter { $0.source == .access }.map(\.id))
        withheld = lines.filter { $0.source == .purchase && !giving.contains($0.id) }
        changesAt = periods.flatMap { [$0.startsAt, $0.endsAt] }.compactMap { $0 }.filter { $0 > moment }.min()
        var revisions: [String: Int64] = [:]
        for line in lines {
            let kind: Line.Source = line.source == .access ? .purchase : line.source
            revisions["\(kind) \(line.id)"] = line.revision
        }
        version = revisions.values.reduce(definitions.version(of: Set(lines.map(\.bundleId)), in: environment), +)
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
}

extension SubscriptionState {
    /// Whether the purchase gives access to any account: one that has none then is another one than it is given to.
    package var givesAccess: Bool {
        switch self {
        case .active, .gracePeriod, .owned: true
        default: false
        }
    }
}
