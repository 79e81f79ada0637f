import Contracts

import struct Foundation.Date
import struct Foundation.UUID

/// A named entitlement of an app and the products that grant it, such as “pro” for a monthly and a yearly subscription.
///
/// A product without a definition grants an entitlement of its own name.
package struct EntitlementDefinition: Sendable, Equatable {
    package var environment: StoreEnvironment
    package var bundleId: String
    package var name: String
    /// Increases by one with every change.
    package var version: Int64
    package var productIds: [String]
    /// Customers whose original app version is older than this one have the entitlement too: they paid for the app.
    package var originalApplicationVersionBefore: String?
    package var createdAt: Date
    /// The id of the API key that wrote this version.
    package var createdBy: UUID

    package init(
        environment: StoreEnvironment, bundleId: String, name: String, version: Int64 = 1, productIds: [String],
        originalApplicationVersionBefore: String?, createdAt: Date, createdBy: UUID
    ) {
        self.environment = environment
        self.bundleId = bundleId
        self.name = name
        self.version = version
        self.productIds = productIds
        self.originalApplicationVersionBefore = originalApplicationVersionBefore
        self.createdAt = createdAt
        self.createdBy = createdBy
    }

    /// Whether a customer with this original app version has the entitlement.
    ///
    /// Versions are compared number by number, as the App Store orders them: 10.0 is after 9.2. A component that is no number
    /// counts as 0.
    package func isGiven(byVersion version: String) -> Bool {
        guard let limit = originalApplicationVersionBefore else { return false }
        let (one, other) = (Self.numbers(version), Self.numbers(limit))
        for index in 0..<max(one.count, other.count) {
            let (left, right) = (index < one.count ? one[index] : 0, index < other.count ? other[index] : 0)
            if left != right { return left < right }
        }
        return false
    }

    private static func numbers(_ version: String) -> [UInt64] {
        version.split(separator: ".", omittingEmptySubsequences: false).map { UInt64($0) ?? 0 }
    }
}

/// What an installation knows of an app that can be granted: its entitlements and its products, each in order.
package struct KnownNames: Sendable, Equatable {
    package var entitlements: [String] = []
    /// Without those of the same name as an entitlement.
    package var products: [String] = []

    package init() {}

    package var all: [String] { entitlements + products }
}

/// The level of a product within its subscription group, which an operator configured: 1 is the highest.
package struct ProductLevel: Sendable, Equatable {
    package var bundleId: String
    package var productId: String
    /// Nil where none is configured any more.
    package var level: Int32?
    /// How often the level was changed.
    package var version: Int64
}

/// The current definitions of entitlements, and the levels of products.
package struct EntitlementDefinitions: Sendable, Equatable {
    private struct App: Hashable {
        var environment: StoreEnvironment
        var bundleId: String
    }

    private var byApp: [App: [EntitlementDefinition]]
    private var levels: [String: [ProductLevel]]
    /// Increases with every change of any definition or level.
    package let version: Int64

    /// - Parameters:
    ///   - definitions: the newest version of each definition.
    ///   - levels: of all apps.
    package init(_ definitions: [EntitlementDefinition] = [], levels: [ProductLevel] = []) {
        self.levels = Dictionary(grouping: levels, by: \.bundleId)
        version = definitions.map(\.version).reduce(0, +) + levels.map(\.version).reduce(0, +)
        byApp = Dictionary(grouping: definitions) { App(environment: $0.environment, bundleId: $0.bundleId) }
    }

    /// The definitions of one app, by name.
    package func all(of bundleId: String, in environment: StoreEnvironment) -> [EntitlementDefinition] {
        byApp[App(environment: environment, bundleId: bundleId)] ?? []
    }

    /// The entitlements that a product of an app grants.
    package func names(of productId: String, _ bundleId: String, in environment: StoreEnvironment) -> [String] {
        let names = all(of: bundleId, in: environment).filter { $0.productIds.contains(productId) }.map(\.name)
        return names.isEmpty ? [productId] : names
    }

    /// The entitlements that an original app version grants.
    package func names(ofVersion version: String, _ bundleId: String, in environment: StoreEnvironment) -> [String] {
        all(of: bundleId, in: environment).filter { $0.isGiven(byVersion: version) }.map(\.name)
    }

    /// The configured level of a product; nil where there is none.
    package func level(of productId: String, _ bundleId: String) -> Int32? {
        levels[bundleId]?.first { $0.productId == productId }?.level
    }

    /// Increases with every change of a definition or a level of these apps.
    package func version(of bundleIds: Set<String>, in environment: StoreEnvironment) -> Int64 {
        bundleIds.reduce(0) { sum, bundleId in
            all(of: bundleId, in: environment).reduce(sum) { $0 + $1.version }
                + (levels[bundleId] ?? []).reduce(0) { $0 + $1.version }
        }
    }
}
