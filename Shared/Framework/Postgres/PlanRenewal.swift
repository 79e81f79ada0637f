/// When a connection has the server plan its prepared statements again.
///
/// The server keeps the plan of a prepared statement until the tables in it are analyzed. One made on an empty table reads
/// all of it, over and over, until autovacuum comes by a minute or more later: a new installation, a first backfill. So
/// plans are dropped once a minute, and within each minute whenever the connection has sent twice as much: a plan is never kept for a
/// table that has grown much more than twofold since, however small the first batches were and however long the connection was idle
/// before. Planning again costs some milliseconds.
struct PlanRenewal {
    /// Bytes that the connection had sent when this minute began.
    private let base: Int
    private let minute: ContinuousClock.Instant
    /// Bytes in this minute.
    private var next = 1

    /// - Parameter sent: bytes of parameters that the connection has sent so far.
    init(now: ContinuousClock.Instant, sent: Int = 0) {
        base = sent
        minute = now
    }

    /// To be asked before each use of the connection.
    /// - Parameter sent: bytes of parameters that the connection has sent so far.
    /// - Returns: whether plans are to be dropped before it.
    mutating func isDue(now: ContinuousClock.Instant, sent: Int) -> Bool {
        if now - minute > .seconds(60) {
            self = PlanRenewal(now: now, sent: sent)
            return true
        }
        guard sent - base >= next else { return false }
        next = 2 * (sent - base)
        return true
    }
}
