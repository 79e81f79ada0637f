import Postgres

/// The level of each product in its subscription group, 1 being the highest, as operators configured it.
public struct ServiceLevelStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Sets the level of products within their groups, 1 being the highest; others stay as they are.
    public func setLevels(_ levels: [String: Int32], ofApp bundleId: String) async throws {
        let levels = levels.sorted { $0.key < $1.key }
        _ = try await repeating {
            try await connection.execute(Self.setLevels, bundleId, levels.map(\.key), levels.map(\.value))
        }
    }

    /// Takes the level of products back; they count as below all that have one.
    public func removeLevels(of products: [String], ofApp bundleId: String) async throws {
        _ = try await repeating { try await connection.execute(Self.removeLevels, bundleId, products) }
    }

    /// The level of each product of an app that has one.
    public func levels(ofApp bundleId: String) async throws -> [String: Int32] {
        try await connection.execute(Self.levels, bundleId).reduce(into: [:]) { levels, row in
            levels[try row.value("product_id")] = try row.value("level", as: Int32.self)
        }
    }

    static let levels = Statement(
        "service-level-levels", "select product_id, level from product_level where bundle_id = $1::text")

    static let removeLevels = Statement(
        "service-level-remove-levels",
        "delete from product_level where bundle_id = $1::text and product_id = any ($2::text[])")

    static let setLevels = Statement(
        "service-level-set-levels",
        """
        insert into product_level (bundle_id, product_id, level)
        select $1::text, product_id, level
        from unnest($2::text[], $3::integer[]) as given (product_id, level)
        order by product_id
        on conflict (bundle_id, product_id) do update
        set level = excluded.level
        """)
}
