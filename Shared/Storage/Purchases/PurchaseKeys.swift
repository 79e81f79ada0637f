/// SQL that reads the rows of purchases given as arrays.
enum PurchaseKeys {
    /// The `from` clause of a statement whose first parameters are the environments and the original transaction ids of
    /// different purchases. Each purchase is an index look-up of its own: with a join the planner may read the whole table,
    /// and does so while the table has no statistics.
    /// - Parameter clause: the end of each look-up, such as `for update`.
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
