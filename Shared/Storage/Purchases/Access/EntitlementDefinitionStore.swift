import Contracts
import Postgres
import Subscriptions

/// The versions of the definitions of entitlements. Rows are only added, without an end: no statement reads all versions of a
/// definition, and what every instance of the API reads each second costs as much as there are definitions.
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

    /// The newest versions of one definition, the newest first.
    /// - Parameter limit: the most of them.
    package func versions(
        of name: String, _ bundleId: String, in environment: StoreEnvironment, limit: Int64
    ) async throws -> [EntitlementDefinition] {
        try await connection.execute(Self.versions, environment.rawValue, bundleId, name, limit).map(Self.read)
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
                let (newest, isAdded) = try Self.put(definition, in: transaction)
                var products: [String] = []
                // Last, because it locks the table of products, and not where the definition is refused.
                if !durations.isEmpty {
                    products = try transaction.pipeline([
                        ProductStore.command(setting: durations, ofApp: definition.bundleId)
                    ])[0].map { row in try row.value("product_id", as: String.self) }
                }
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
                Self.versions, definition.environment.rawValue, definition.bundleId, definition.name, Int64(1)
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

    /// The newest version of each definition: its key is looked up from one to the next, so that the others are not read.
    private static let newest = """
        named (environment, bundle_id, name) as (
            (
                select environment, bundle_id, name
                from entitlement_definition
                order by environment, bundle_id, name
                limit 1
            )
            union all
            select next.environment, next.bundle_id, next.name
            from named
            cross join lateral (
                select environment, bundle_id, name
                from entitlement_definition known
                where (known.environment, known.bundle_id, known.name) > (named.environment, named.bundle_id, named.name)
                order by environment, bundle_id, name
                limit 1
            ) as next
        ), newest as (
            select version.*
            from named
            cross join lateral (
                select *
                from entitlement_definition known
                where known.environment = named.environment and known.bundle_id = named.bundle_id
                    and known.name = named.name
                order by known.version desc
                limit 1
            ) as version
        )
        """

    private static let others = Statement(
        "entitlement-definition-others",
        unsafeSQL: """
            with recursive \(newest)
            select count(*) as names, coalesce(sum(length(array_to_string(product_ids, ''))), 0)::bigint as characters
            from newest
            where environment = $1::text::store_environment and bundle_id = $2::text and name <> $3::text
            """)

    private static let names = Statement(
        "entitlement-names",
        unsafeSQL: """
            with recursive \(newest), sold (product_id) as (
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
                select name, product_ids
                from newest
                where environment = $1::text::store_environment and bundle_id = $2::text
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

    static let current = Statement(
        "entitlement-definition-current",
        unsafeSQL: """
            with recursive \(newest)
            select environment::text as environment, bundle_id, name, version, product_ids,
                original_application_version_before, created_at, created_by
            from newest
            order by newest.environment, bundle_id, name
            """)

    private static let versions = Statement(
        "entitlement-definition-versions",
        """
        select environment::text as environment, bundle_id, name, version, product_ids,
            original_application_version_before, created_at, created_by
        from entitlement_definition
        where environment = $1::text::store_environment and bundle_id = $2::text and name = $3::text
        order by version desc
        limit $4::bigint
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
