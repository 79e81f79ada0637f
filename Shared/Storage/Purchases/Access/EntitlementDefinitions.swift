import Contracts
import Postgres
import Subscriptions

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

/// The versions of the definitions of entitlements. Rows are only added.
package struct EntitlementDefinitionStore: Sendable {
    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// The newest version of each definition, by name.
    package func current() async throws -> EntitlementDefinitions {
        EntitlementDefinitions(
            try await connection.execute(Self.current).map(Self.read),
            levels: try await connection.execute(Self.levels).map { row in
                ProductLevel(
                    bundleId: try row.value("bundle_id"), productId: try row.value("product_id"),
                    level: try row.optional("level"), version: try row.value("level_version"))
            })
    }

    /// Every version of one definition, the newest first.
    package func versions(
        of name: String, _ bundleId: String, in environment: StoreEnvironment
    ) async throws -> [EntitlementDefinition] {
        try await connection.execute(Self.versions, environment.rawValue, bundleId, name).map(Self.read)
    }

    /// Adds a version if the definition differs from the newest one, and sets durations of products, with their entries of the
    /// audit log, all or nothing. Where another request adds a version at the same time, the later request wins.
    /// - Parameters:
    ///   - durations: by product id, see ``ProductStore/setDurations(_:ofApp:)``.
    ///   - actions: the entries, of the products whose duration changed and of the added version; nil where none was.
    /// - Returns: the newest version.
    /// - Throws: ``Full`` where the app would have too many definitions, or too long ones.
    package func put(
        _ definition: EntitlementDefinition, durations: [String: ProductDuration?],
        actions: @escaping @Sendable (_ products: [String], _ added: EntitlementDefinition?) -> [OperatorAction]
    ) async throws -> EntitlementDefinition {
        try await repeating {
            try await connection.transaction { transaction in
                var products: [String] = []
                if !durations.isEmpty {
                    products = try transaction.pipeline([
                        ProductStore.command(setting: durations, ofApp: definition.bundleId)
                    ])[0].map { row in try row.value("product_id", as: String.self) }
                }
                let (newest, isAdded) = try Self.put(definition, in: transaction)
                let made = actions(products, isAdded ? newest : nil)
                if !made.isEmpty { _ = try transaction.pipeline([OperatorActionStore.command(recording: made)]) }
                return newest
            }
        }
    }

    private static func put(
        _ definition: EntitlementDefinition, in transaction: PostgresTransaction
    ) throws -> (newest: EntitlementDefinition, isAdded: Bool) {
        while true {
            let newest = try transaction.execute(
                Self.versions, definition.environment.rawValue, definition.bundleId, definition.name
            ).first.map(Self.read)
            if let newest, newest.productIds == definition.productIds,
                newest.originalApplicationVersionBefore == definition.originalApplicationVersionBefore
            {
                return (newest, false)
            }
            let others = try transaction.execute(
                Self.others, definition.environment.rawValue, definition.bundleId, definition.name)[0]
            let characters = definition.productIds.map(\.count).reduce(0, +)
            guard try others.value("names", as: Int64.self) < Full.names,
                try others.value("characters", as: Int64.self) + Int64(characters) <= Full.characters
            else { throw Full() }
            var definition = definition
            definition.version = (newest?.version ?? 0) + 1
            let added = try transaction.execute(
                Self.insert, definition.environment.rawValue, definition.bundleId, definition.name,
                definition.version, definition.productIds, definition.originalApplicationVersionBefore,
                definition.createdAt, definition.createdBy
            ).affected
            if added > 0 { return (definition, true) }
        }
    }

    private static func read(_ row: Row) throws -> EntitlementDefinition {
        EntitlementDefinition(
            environment: try SubscriptionStore.environment(row), bundleId: try row.value("bundle_id"),
            name: try row.value("name"), version: try row.value("version"), productIds: try row.value("product_ids"),
            originalApplicationVersionBefore: try row.optional("original_application_version_before"),
            createdAt: try row.value("created_at"), createdBy: try row.value("created_by"))
    }

    /// The names that a grant for an app may have: of its definitions, of products that were configured, and of products that
    /// it has sold. As many look-ups as there are products.
    package func names(of bundleId: String, in environment: StoreEnvironment) async throws -> KnownNames {
        let rows = try await connection.execute(Self.names, environment.rawValue, bundleId)
        var names = KnownNames()
        for row in rows {
            let name: String = try row.value("name")
            if try row.value("is_entitlement") { names.entitlements.append(name) } else { names.products.append(name) }
        }
        return names
    }

    /// An app has as many definitions in an environment as every instance of the API can hold.
    package struct Full: Error {
        /// The most names.
        package static let names: Int64 = 1000
        /// The most characters of all product ids together.
        package static let characters: Int64 = 1_000_000
    }

    static let statements = [current, levels, versions, others, insert, names]

    private static let others = Statement(
        "entitlement-definition-others",
        """
        select count(*) as names, coalesce(sum(length(array_to_string(product_ids, ''))), 0)::bigint as characters
        from (
            select distinct on (name) product_ids
            from entitlement_definition
            where environment = $1::text::store_environment and bundle_id = $2::text and name <> $3::text
            order by name, version desc
        ) as definition
        """)

    private static let names = Statement(
        "entitlement-names",
        """
        with recursive sold (product_id) as (
            (
                select product_id
                from transaction
                where environment = $1::text::store_environment and bundle_id = $2::text
                order by product_id
                limit 1
            )
            union all
            select next.product_id
            from sold
            cross join lateral (
                select product_id
                from transaction
                where environment = $1::text::store_environment and bundle_id = $2::text
                    and transaction.product_id > sold.product_id
                order by product_id
                limit 1
            ) as next
        ), defined as (
            select distinct on (name) name, product_ids
            from entitlement_definition
            where environment = $1::text::store_environment and bundle_id = $2::text
            order by name, version desc
        )
        select name, true as is_entitlement
        from defined
        union
        select product_id, false
        from (
            select product_id from sold
            union
            select product_id from product where bundle_id = $2::text
            union
            select unnest(product_ids) from defined
        ) as product (product_id)
        where product_id not in (select name from defined)
        order by is_entitlement desc, name
        """)

    private static let levels = Statement(
        "entitlement-product-levels",
        "select bundle_id, product_id, level, level_version from product where level_version > 0")

    private static let current = Statement(
        "entitlement-definition-current",
        """
        select distinct on (environment, bundle_id, name) environment::text as environment, bundle_id, name, version,
            product_ids, original_application_version_before, created_at, created_by
        from entitlement_definition
        order by environment, bundle_id, name, version desc
        """)

    private static let versions = Statement(
        "entitlement-definition-versions",
        """
        select environment::text as environment, bundle_id, name, version, product_ids,
            original_application_version_before, created_at, created_by
        from entitlement_definition
        where environment = $1::text::store_environment and bundle_id = $2::text and name = $3::text
        order by version desc
        """)

    private static let insert = Statement(
        "entitlement-definition-insert",
        """
        insert into entitlement_definition (
            environment, bundle_id, name, version, product_ids, original_application_version_before, created_at,
            created_by)
        values (
            $1::text::store_environment, $2::text, $3::text, $4::bigint, $5::text[], $6::text, $7::timestamptz, $8::uuid)
        on conflict do nothing
        """)
}
