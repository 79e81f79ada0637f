import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// Dead letters as the console shows them: grouped, listed, and frozen into selections. Reads the index, never the topic.
package struct DeadLetterGroups: Sendable {
    /// What dead letters have in common; nil restricts nothing.
    package struct Criteria: Sendable, Hashable {
        package var stage: String?
        package var reason: String?
        package var environment: String?
        package var bundleId: String?
        package var build: String?

        package init(
            stage: String? = nil, reason: String? = nil, environment: String? = nil, bundleId: String? = nil,
            build: String? = nil
        ) {
            self.stage = stage
            self.reason = reason
            self.environment = environment
            self.bundleId = bundleId
            self.build = build
        }
    }

    /// Dead letters of one stage, reason, app and release.
    package struct Group: Sendable, Equatable {
        package var criteria: Criteria
        package var count: Int64
        /// Neither replayed nor dismissed.
        package var open: Int64
        package var firstAt: Date
        package var lastAt: Date
        /// By day, the oldest first.
        package var days: [Int64]
    }

    private let connection: PostgresConnection
    private let look: Int

    /// All statements run on this connection.
    /// - Parameter look: how many dead letters one page looks at, so that a filter that matches few does not read the whole index.
    package init(_ connection: PostgresConnection, look: Int = 10_000) {
        self.connection = connection
        self.look = look
    }

    /// The groups since a time, those with open ones first, then the newest.
    package func groups(_ criteria: Criteria, from start: Date, to end: Date, days: Int) async throws -> [Group] {
        let rows = try await connection.execute(
            Self.groups, criteria.stage, criteria.reason, criteria.environment, criteria.bundleId, criteria.build,
            start, end, Int32(days), Int64(look))
        var groups: [Criteria: Group] = [:]
        for row in rows {
            let key = Criteria(
                stage: try row.value("stage"), reason: try row.value("reason"),
                environment: try row.optional("environment"), bundleId: try row.optional("bundle_id"),
                build: try row.optional("build"))
            let (first, last): (Date, Date) = (try row.value("first_at"), try row.value("last_at"))
            var group =
                groups[key]
                ?? Group(
                    criteria: key, count: 0, open: 0, firstAt: first, lastAt: last,
                    days: Array(repeating: 0, count: days))
            let count: Int64 = try row.value("count")
            group.count += count
            group.open += try row.value("open", as: Int64.self)
            group.firstAt = min(group.firstAt, first)
            group.lastAt = max(group.lastAt, last)
            let day = Int(try row.value("day", as: Int32.self)) - 1
            if group.days.indices.contains(day) { group.days[day] += count }
            groups[key] = group
        }
        return groups.values.sorted {
            ($0.open > 0 ? 1 : 0, $0.lastAt, $0.criteria.reason ?? "", $0.criteria.build ?? "")
                > ($1.open > 0 ? 1 : 0, $1.lastAt, $1.criteria.reason ?? "", $1.criteria.build ?? "")
        }
    }

    /// A dead letter of the index.
    package struct IndexedDeadLetter: Sendable, Equatable {
        package var partition: Int32
        package var offset: Int64
        package var criteria: Criteria
        package var message: String
        package var rejectedAt: Date
        package var receivedAt: Date?
        package var notificationUUID: UUID?
        package var source: String?
        /// The command that settled it; nil while it is open.
        package var settledBy: String?

        /// As commands name it.
        package var id: String { "\(partition)/\(offset)" }

        package var place: Place { Place(rejectedAt: rejectedAt, partition: partition, offset: offset) }
    }

    /// Where a page ends: pages are in the order of these three.
    package struct Place: Sendable, Equatable {
        package var rejectedAt: Date
        package var partition: Int32
        package var offset: Int64

        package init(rejectedAt: Date, partition: Int32, offset: Int64) {
            self.rejectedAt = rejectedAt
            self.partition = partition
            self.offset = offset
        }
    }

    /// Dead letters, and where the next page begins.
    package struct Page: Sendable {
        /// The newest first.
        package var deadLetters: [IndexedDeadLetter]
        /// The last one that was looked at; nil where nothing is left.
        package var last: Place?
        /// How many were looked at, if the page is short because the rest of them did not match.
        package var looked: Int?
    }

    /// The newest first.
    /// - Parameter place: of the last one that the page before looked at.
    package func deadLetters(_ criteria: Criteria, after place: Place? = nil, limit: Int) async throws -> Page {
        let deadLetters = try await connection.execute(
            Self.deadLetters, criteria.stage, criteria.reason, criteria.environment, criteria.bundleId, criteria.build,
            place?.rejectedAt, place?.partition, place?.offset, Int64(look), Int64(limit + 1)
        ).map(Self.deadLetter)
        guard deadLetters.count <= limit else {
            return Page(deadLetters: Array(deadLetters.prefix(limit)), last: deadLetters[limit - 1].place)
        }
        let end = try await connection.execute(
            Self.end, place?.rejectedAt, place?.partition, place?.offset, Int64(look - 1)
        ).first
        let last = try end.map { row in
            Place(
                rejectedAt: try row.value("rejected_at"), partition: try row.value("kafka_partition"),
                offset: try row.value("kafka_offset"))
        }
        return Page(deadLetters: deadLetters, last: last, looked: last == nil ? nil : look)
    }

    /// The newest dead letter of each stage since a time, of the newest that one page looks at.
    package func newestByStage(since time: Date) async throws -> [IndexedDeadLetter] {
        try await connection.execute(Self.newestByStage, time, Int64(look)).map(Self.deadLetter)
    }

    /// Those that claim a notification's id, the newest first.
    package func deadLetters(about uuid: UUID, limit: Int) async throws -> [IndexedDeadLetter] {
        try await connection.execute(Self.deadLettersAbout, uuid, Int64(limit)).map(Self.deadLetter)
    }

    private static func deadLetter(_ row: Row) throws -> IndexedDeadLetter {
        IndexedDeadLetter(
            partition: try row.value("kafka_partition"), offset: try row.value("kafka_offset"),
            criteria: Criteria(
                stage: try row.value("stage"), reason: try row.value("reason"),
                environment: try row.optional("environment"), bundleId: try row.optional("bundle_id"),
                build: try row.optional("build")),
            message: try row.value("message"), rejectedAt: try row.value("rejected_at"),
            receivedAt: try row.optional("received_at"), notificationUUID: try row.optional("notification_uuid"),
            source: try row.optional("source"), settledBy: try row.optional("settled_by"))
    }

    static let statements = [groups, deadLetters, end, newestByStage, deadLettersAbout]

    /// Which actions are about a dead letter. What was done before it was rejected was done to another one at its offset, before
    /// the topic was deleted and created again.
    static let isAboutDeadLetter = """
        operator_action.subject = 'dead letter ' || rejected.cluster || '/' || kafka_partition || '/' || kafka_offset
            and operator_action.acted_at >= rejected.rejected_at
        """

    static let matches = """
        ($1::text is null or stage = $1::text) and ($2::text is null or reason = $2::text)
            and ($3::text is null or environment = $3::text) and ($4::text is null or bundle_id = $4::text)
            and ($5::text is null or build = $5::text)
        """

    private static let groups = Statement(
        "console-dead-letter-groups",
        unsafeSQL: """
            select stage collate "C" as stage, reason collate "C" as reason, environment collate "C" as environment,
                bundle_id collate "C" as bundle_id, build collate "C" as build,
                width_bucket(
                    date_part('epoch', rejected_at), date_part('epoch', $6::timestamptz),
                    date_part('epoch', $7::timestamptz), $8::integer) as day,
                count(*) as count, min(rejected_at) as first_at, max(rejected_at) as last_at,
                count(*) filter (where not exists (
                    select from operator_action where \(isAboutDeadLetter))) as open
            from (
                select *
                from rejected
                where rejected_at >= $6::timestamptz and \(matches)
                order by rejected_at desc
                limit $9::bigint
            ) as rejected
            group by 1, 2, 3, 4, 5, 6
            """)

    private static let columns = """
        kafka_partition, kafka_offset, stage, reason, environment, bundle_id, build, message, rejected_at, received_at,
            notification_uuid, source, (
                select operation
                from operator_action
                where \(isAboutDeadLetter)
                order by id desc
                limit 1) as settled_by
        """

    private static let deadLettersAbout = Statement(
        "console-dead-letters-about",
        unsafeSQL: """
            select \(columns)
            from rejected
            where notification_uuid = $1::uuid
            order by rejected_at desc
            limit $2::bigint
            """)

    private static let newestByStage = Statement(
        "console-dead-letters-newest",
        unsafeSQL: """
            select \(columns)
            from (
                select distinct on (stage) *
                from (
                    select *
                    from rejected
                    where rejected_at >= $1::timestamptz
                    order by rejected_at desc
                    limit $2::bigint
                ) as recent
                order by stage, rejected_at desc
            ) as rejected
            """)

    /// - Parameter first: number of the first parameter of a place.
    private static func older(_ first: Int) -> String {
        """
        from rejected
                where (rejected_at, kafka_partition, kafka_offset) < (
                    coalesce($\(first)::timestamptz, 'infinity'), coalesce($\(first + 1)::integer, 2147483647),
                    coalesce($\(first + 2)::bigint, 9223372036854775807))
                order by rejected_at desc, kafka_partition desc, kafka_offset desc
        """
    }

    private static let deadLetters = Statement(
        "console-dead-letters",
        unsafeSQL: """
            select \(columns)
            from (
                select *
                \(older(6))
                limit $9::bigint
            ) as rejected
            where \(matches)
            order by rejected_at desc, kafka_partition desc, kafka_offset desc
            limit $10::bigint
            """)

    private static let end = Statement(
        "console-dead-letters-end",
        unsafeSQL: """
            select rejected_at, kafka_partition, kafka_offset
            \(older(1))
            limit 1
            offset $4::bigint
            """)
}
