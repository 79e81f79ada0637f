import Contracts
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// The access of one account at a moment, computed from the lines of ``EntitlementStore``. No I/O.
package struct AccountAccess: Sendable {
    package typealias Line = EntitlementStore.Line

    package let account: UUID
    package let environment: StoreEnvironment
    package let moment: Date
    /// An entitlement of the account under one name.
    package struct Entitlement: Sendable {
        /// The app's name of the entitlement; the product id where the app has defined none.
        package var name: String
        /// The lines that grant it.
        package var line: Line
        /// Whether no other active subscription of its group has a higher configured level; nil where it is no subscription.
        package var isHighestLevel: Bool?
    }

    /// The periods that contain the moment, joined with adjoining periods of the same product. A period with several names
    /// appears under each.
    package let entitlements: [Entitlement]
    /// Purchases of the account that give it no access at the moment.
    package let withheld: [Line]
    /// The apps that have anything of the account.
    package let apps: [String]
    /// The next moment at which the answer changes by the clock alone; nil where it never does.
    package let changesAt: Date?
    /// Increases with every change of these purchases and grants.
    package let version: Int64

    /// - Parameters:
    ///   - lines: the lines of this account, in the order of the statement.
    ///   - definitions: the definitions of its apps, and perhaps of others.
    package init(
        of account: UUID, in environment: StoreEnvironment, lines: [Line], definitions: EntitlementDefinitions,
        at moment: Date
    ) {
        let moment = moment.atMilliseconds
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
        let active = periods.filter { $0.contains(moment) }
        entitlements = active.flatMap { line in
            let isHighest = Self.isHighestLevel(line, among: active, definitions)
            return names(line).map { Entitlement(name: $0, line: line, isHighestLevel: isHighest) }
        }
        apps = Set(lines.map(\.bundleId)).sorted()
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

    /// A product without a level ranks below all that have one; equal levels are all the highest.
    private static func isHighestLevel(
        _ line: Line, among active: [Line], _ definitions: EntitlementDefinitions
    ) -> Bool? {
        guard line.source == .access, let group = line.subscriptionGroupId else { return nil }
        func level(_ line: Line) -> Int32 { definitions.level(of: line.productId ?? "", line.bundleId) ?? .max }
        return !active.contains {
            $0.source == .access && $0.bundleId == line.bundleId && $0.subscriptionGroupId == group
                && level($0) < level(line)
        }
    }

    /// Joins adjoining periods of one purchase with the same product and reason.
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
