/// Reads the rows of purchases that are named in arrays.
enum PurchaseKeys {
    /// `from …` of a statement whose first parameters are the environments and the original transaction ids of different
    /// purchases. Each is looked up in the index by itself: of a join the planner may read the whole table, and does
    /// while it knows nothing of it.
    /// - Parameter clause: at the end of each look-up, such as `for update`.
    static func lookingUp(_ table: String, _ clause: String = "") -> String {
        """
        from unnest($1::text[], $2::text[]) as given (given_environment, given_id)
        cross join lateral (
            select *
            from \(table)
            where environment = given_environment::store_environment and original_transaction_id = given_id
            offset 0 \(clause)
        ) as \(table)
        """
    }
}
