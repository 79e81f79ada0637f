/// When a connection has the server plan its prepared statements again.
///
/// The server keeps the plan of a prepared statement until the tables in it are analyzed. One made on an empty table reads
/// all of it, over and over, until autovacuum comes by a minute or more later: a new installation, a first backfill. So
/// plans are dropped after 8 uses of a connection, after 16, 32 and so on, and once a minute: a plan is never kept for a
/// table that has grown much more than twofold since. Planning again costs some milliseconds.
struct PlanRenewal {
    private var uses = 0
    private var next = 8
    private var last: ContinuousClock.Instant

    init(now: ContinuousClock.Instant) { last = now }

    /// Counts a use of the connection.
    /// - Returns: whether plans are to be dropped before it.
    mutating func isDue(now: ContinuousClock.Instant) -> Bool {
        uses += 1
        guard uses > next || now - last > .seconds(60) else { return false }
        if uses > next { next *= 2 }
        last = now
        return true
    }
}
