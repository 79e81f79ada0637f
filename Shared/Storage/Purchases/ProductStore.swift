import Postgres
import Subscriptions

/// Operators' settings of the products of an app, which Apple sends to no server.
public struct ProductStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Sets the level of products within their groups, 1 being the highest; other products keep their level.
    /// - Parameter levels: by product id; nil removes the level, so that the product ranks below all that have one.
    public func setLevels(_ levels: [String: Int32?], ofApp bundleId: String) async throws {
        let levels = levels.sorted { $0.key < $1.key }
        _ = try await repeating {
            try await connection.execute(Self.setLevels, bundleId, levels.map(\.key), levels.map(\.value))
        }
    }

    /// The configured levels of an app, by product id.
    public func levels(ofApp bundleId: String) async throws -> [String: Int32] {
        try await connection.execute(Self.levels, bundleId).reduce(into: [:]) { levels, row in
            levels[try row.value("product_id")] = try row.value("level", as: Int32.self)
        }
    }

    /// Sets how long purchases of non-renewing products give access; other products keep their duration.
    ///
    /// It applies to new purchases at once. The state-updater recalculates the access of earlier ones, see
    /// ``AccessRecalculation``.
    /// - Parameter durations: by product id; nil makes the duration unknown, and access has no end.
    /// - Returns: the ids of the products whose duration changed.
    @discardableResult
    public func setDurations(
        _ durations: [String: ProductDuration?], ofApp bundleId: String
    ) async throws -> [String] {
        let command = Self.command(setting: durations, ofApp: bundleId)
        return try await repeating {
            try await connection.pipeline([command])[0].map { try $0.value("product_id") }
        }
    }

    /// Sets durations, and selects the products whose duration changed.
    static func command(setting durations: [String: ProductDuration?], ofApp bundleId: String) -> Command {
        let durations = durations.sorted { $0.key < $1.key }
        return Command(
            Self.setDurations, bundleId, durations.map(\.key), durations.map { $0.value?.description })
    }

    /// A product whose duration was set, or that needs one.
    public struct DurationSetting: Sendable, Equatable {
        /// The app's bundle identifier.
        public var bundleId: String
        /// Apple's id of the product.
        public var productId: String
        /// The duration as ISO 8601 text; nil where it is unknown.
        public var duration: String?
        /// Number of purchases whose access has no end because the duration is unknown.
        public var endless: Int
        /// Number of purchases whose access was computed by an earlier duration and is to be recalculated.
        public var waiting: Int
    }

    /// The products with a duration, and those without one that were bought.
    /// - Parameter bundleId: nil means all apps.
    public func durations(ofApp bundleId: String? = nil) async throws -> [DurationSetting] {
        try await connection.execute(Self.durations, bundleId).map { row in
            DurationSetting(
                bundleId: try row.value("bundle_id"), productId: try row.value("product_id"),
                duration: try row.optional("duration"), endless: Int(try row.value("endless", as: Int64.self)),
                waiting: Int(try row.value("waiting", as: Int64.self)))
        }
    }

    /// The configured durations of one app, by product id.
    package func durations(configuredFor bundleId: String) async throws -> [String: ProductDuration] {
        try ProductDurations(try await connection.execute(Self.configured))[bundleId] ?? [:]
    }

    /// The credit that one consumable of a product gives.
    public struct CreditSetting: Sendable, Equatable {
        /// Apple's id of the product.
        public var productId: String
        /// For each of the quantity.
        public var amount: Int64
        /// The unit that is counted, such as `coins`.
        public var unit: String

        /// - Parameters:
        ///   - amount: for each of the quantity, from 1.
        ///   - unit: what is counted.
        public init(productId: String, amount: Int64, unit: String) {
            self.productId = productId
            self.amount = amount
            self.unit = unit
        }
    }

    /// Sets what consumables give from now on; what was credited before stays as it is.
    /// - Parameters:
    ///   - settings: the products to set.
    ///   - removed: the products that give one of themselves again.
    public func setCredits(_ settings: [CreditSetting], removing removed: [String], ofApp bundleId: String) async throws
    {
        let settings = settings.sorted { $0.productId < $1.productId }
        let products = settings.map(\.productId) + removed
        let none = removed.map { _ in Int64?.none }
        let amounts = settings.map { Int64?.some($0.amount) } + none
        let units = settings.map { String?.some($0.unit) } + removed.map { _ in String?.none }
        _ = try await repeating {
            try await connection.execute(Self.setCredits, bundleId, products, amounts, units)
        }
    }

    /// The credits that the consumables of an app give, by product; not those that give one of themselves.
    public func credits(ofApp bundleId: String) async throws -> [CreditSetting] {
        try await connection.execute(Self.credits, bundleId).map { row in
            CreditSetting(
                productId: try row.value("product_id"), amount: try row.value("credit_amount"),
                unit: try row.value("credit_unit"))
        }
    }

    static let setCredits = Statement(
        "product-set-credits",
        """
        insert into product as known (bundle_id, product_id, credit_amount, credit_unit)
        select $1::text, product_id, amount, unit
        from unnest($2::text[], $3::bigint[], $4::text[]) as given (product_id, amount, unit)
        order by product_id
        on conflict (bundle_id, product_id) do update
        set credit_amount = excluded.credit_amount, credit_unit = excluded.credit_unit
        where (known.credit_amount, known.credit_unit) is distinct from (excluded.credit_amount, excluded.credit_unit)
        """)

    static let credits = Statement(
        "product-credits",
        """
        select product_id, credit_amount, credit_unit
        from product
        where bundle_id = $1::text and credit_amount is not null
        order by product_id
        """)

    static let levels = Statement(
        "product-levels",
        "select product_id, level from product where bundle_id = $1::text and level is not null")

    static let setLevels = Statement(
        "product-set-levels",
        """
        insert into product as known (bundle_id, product_id, level, level_version)
        select $1::text, product_id, level, 1
        from unnest($2::text[], $3::integer[]) as given (product_id, level)
        order by product_id
        on conflict (bundle_id, product_id) do update
        set level = excluded.level, level_version = known.level_version + 1
        where known.level is distinct from excluded.level
        """)

    static let setDurations = Statement(
        "product-set-durations",
        "select product_id from set_product_durations($1::text, $2::text[], $3::text[]) as product_id")

    /// The durations of all apps, which `LedgerStore.apply` reads: few rows, and none without non-renewing products.
    static let configured = Statement(
        "product-configured", "select bundle_id, product_id, duration from product where duration is not null")

    static let durations = Statement(
        "product-durations",
        """
        select coalesce(said.bundle_id, needed.bundle_id) as bundle_id,
            coalesce(said.product_id, needed.product_id) as product_id, said.duration, coalesce(endless, 0) as endless,
            case
                when said.is_duration_applied is distinct from false then 0
                else (
                    select count(distinct (bought.environment, bought.original_transaction_id))
                    from transaction bought
                    where bought.bundle_id = said.bundle_id and bought.product_id = said.product_id
                        and bought.product_type = 'Non-Renewing Subscription' and bought.expires_at is null
                        and (
                            said.recalculated_purchase is null
                            or (bought.environment, bought.original_transaction_id)
                                > (said.recalculated_environment, said.recalculated_purchase)))
            end as waiting
        from (
            select *
            from product
            where duration is not null or not is_duration_applied
        ) as said
        full join (
            select bundle_id, product_id, count(*) as endless
            from access_period
            where reason = 'durationUnknown'
            group by bundle_id, product_id
        ) as needed using (bundle_id, product_id)
        where $1::text is null or coalesce(said.bundle_id, needed.bundle_id) = $1::text
        order by 1, 2
        """)
}

/// How long purchases of non-renewing products give access, by app and product.
typealias ProductDurations = [String: [String: ProductDuration]]

extension ProductDurations {
    /// - Parameter rows: of ``ProductStore/configured``.
    init(_ rows: Rows) throws {
        self = try rows.reduce(into: [:]) { durations, row in
            let product: String = try row.value("product_id")
            durations[try row.value("bundle_id"), default: [:]][product] = ProductDuration(try row.value("duration"))
        }
    }
}
