import Postgres

/// Deletes in portions, each a transaction of its own: what one has deleted stays deleted, and none reaches the time limit of a
/// statement. One that does, as on a slow disk, is repeated with fewer rows.
/// - Parameters:
///   - portion: most rows of one statement at first.
///   - delete: deletes at most as many rows, and returns how many it deleted.
/// - Returns: number of rows.
func deletingInPortions(of portion: Int = 20_000, _ delete: (Int64) async throws -> Int) async throws -> Int {
    var portion = max(1, portion)
    var deleted = 0
    while true {
        try Task.checkCancellation()
        do {
            let gone = try await repeating { try await delete(Int64(portion)) }
            guard gone > 0 else { return deleted }
            deleted += gone
        } catch let error as PostgresError where error.sqlState == "57014" && portion > 1 {
            portion = max(1, portion / 10)
        }
    }
}
