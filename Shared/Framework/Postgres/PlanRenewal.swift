/// When a connection has the server plan its prepared statements again.
///
/// The server keeps the plan of a prepared statement until the tables in it are analyzed. One made on an empty table reads
/// all of it, over and over, until autovacuum comes by a minute or more later: a new installation, a first backfill. So
/// plans are dropped once a minute, and within each minute after 1, 2, 4, 8 uses of a connection and so on, because the first use
/// may write a batch of 500 rows: a plan is never kept for a table that has grown much more than twofold since, however long the
/// connection was idle before. Planning again costs some milliseconds.
struct PlanRenewal {
    private static let first = 1

    /// In this minute.
    private var uses = 0
    private var next = first
    private var minute: ContinuousClock.Instant

    init(now: ContinuousClock.Instant) { minute = now }

    /// Counts a use of the connection.
    /// - Returns: whether plans are to be dropped before it.
    mutating func isDue(now: ContinuousClock.Instant) -> Bool {
        if now - minute > .seconds(60) {
            self = PlanRenewal(now: now)
            uses = 1
            return true
        }
        uses += 1
        guard uses > next else { return false }
        next *= 2
        return true
    }
}
