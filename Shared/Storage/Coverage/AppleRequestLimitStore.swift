import Postgres

/// When questions to Apple may be sent, for all processes together: Apple counts them together.
///
/// Each question takes the next free moment, at even distances, by the clock of the database. A moment that is further
/// ahead than any question and any pause of Apple's, an hour at most, could bring it is from before that clock was set
/// back, and counts as now.
public struct AppleRequestLimitStore: Sendable {
    /// A question that wants a moment.
    public struct Question: Sendable {
        var bundleId: String
        var environment: String
        var endpoint: String
        /// Seconds between two questions.
        var distance: Double
        /// Seconds by which questions may be early after a pause: what makes a short burst possible.
        var tolerance: Double

        /// - Parameters:
        ///   - perSecond: how many may be asked.
        ///   - burst: how many may be asked at once after a pause.
        public init(
            bundleId: String, environment: String, endpoint: String, perSecond: Double, burst: Int
        ) {
            self.bundleId = bundleId
            self.environment = environment
            self.endpoint = endpoint
            distance = 1 / perSecond
            tolerance = distance * Double(max(0, burst - 1))
        }
    }

    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Takes the next free moment, if it comes soon enough.
    /// - Parameter patience: seconds that the question can wait.
    /// - Returns: seconds until that moment; nil where it comes later.
    public func take(_ question: Question, patience: Double) async throws -> Double? {
        let rows = try await connection.execute(
            Self.take, question.bundleId, question.environment, question.endpoint, question.distance,
            question.tolerance, patience)
        return try rows.first.map { max(0, try $0.value("seconds")) }
    }

    /// Seconds until the next free moment.
    public func pause(before question: Question) async throws -> Double {
        let rows = try await connection.execute(
            Self.pause, question.bundleId, question.environment, question.endpoint, question.tolerance)
        return try rows.first.map { max(0, try $0.value("seconds")) } ?? 0
    }

    /// Apple wants a pause: no question of the kind for so many seconds.
    public func close(_ question: Question, seconds: Double) async throws {
        _ = try await connection.execute(
            Self.close, question.bundleId, question.environment, question.endpoint, seconds + question.tolerance)
    }

    static let take = Statement(
        "apple-request-limit-take",
        """
        insert into apple_request_limit as kind (bundle_id, environment, endpoint, next_at)
        values ($1::text, $2::text, $3::text,
            clock_timestamp() + $4::double precision * interval '1 second')
        on conflict (bundle_id, environment, endpoint) do update
        -- Between the two moments of the condition; one hour, because this clock is read a little later.
        set next_at = case
                when kind.next_at > clock_timestamp()
                    + ($5::double precision + $6::double precision) * interval '1 second' + interval '1 hour'
                then clock_timestamp()
                else greatest(kind.next_at, clock_timestamp())
            end + $4::double precision * interval '1 second'
        where kind.next_at <= clock_timestamp()
                + ($5::double precision + $6::double precision) * interval '1 second'
            or kind.next_at > clock_timestamp()
                + ($5::double precision + $6::double precision) * interval '1 second' + interval '2 hours'
        returning extract(epoch from next_at - clock_timestamp())::double precision - $4::double precision
            - $5::double precision as seconds
        """)

    static let pause = Statement(
        "apple-request-limit-pause",
        """
        select case
                when next_at > clock_timestamp() + $4::double precision * interval '1 second' + interval '2 hours'
                then 0
                else extract(epoch from next_at - clock_timestamp())::double precision - $4::double precision
            end as seconds
        from apple_request_limit
        where bundle_id = $1::text and environment = $2::text and endpoint = $3::text
        """)

    static let close = Statement(
        "apple-request-limit-close",
        """
        insert into apple_request_limit as kind (bundle_id, environment, endpoint, next_at)
        values ($1::text, $2::text, $3::text,
            clock_timestamp() + $4::double precision * interval '1 second')
        on conflict (bundle_id, environment, endpoint) do update
        set next_at = case
                when kind.next_at > excluded.next_at + interval '2 hours' then excluded.next_at
                else greatest(kind.next_at, excluded.next_at)
            end
        """)
}
