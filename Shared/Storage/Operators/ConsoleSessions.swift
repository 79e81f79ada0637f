import Postgres

import struct Foundation.Date

/// Who may use the console: one-time links, and the sessions that they begin. Only digests of secrets are stored.
package struct ConsoleSessions: Sendable {
    /// A person and what they may do.
    package struct Person: Sendable, Equatable {
        package var name: String
        /// By the names of the console's roles.
        package var role: String

        package init(name: String, role: String) {
            self.name = name
            self.role = role
        }
    }

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Makes a link, and writes down who did.
    package func addLink(
        _ digest: [UInt8], for person: Person, from now: Date, until end: Date, audit: OperatorAction
    ) async throws {
        _ = try await connection.pipeline([
            Command(Self.insertLink, digest, person.name, person.role, now, end),
            OperatorActionStore.command(recording: [audit]),
        ])
    }

    /// Uses a link up and begins a session, both or neither.
    /// - Returns: nil where the link is unknown, over or used.
    package func begin(
        link: [UInt8], session: [UInt8], at now: Date, until end: Date
    ) async throws -> Person? {
        try await connection.execute(Self.begin, link, session, now, end).first.map(Self.person)
    }

    /// Begins the session of a person whom a provider signed in, and writes it down: all or nothing.
    /// - Parameter attempt: of the sign-in; it serves once.
    /// - Returns: whether it had not served before.
    package func begin(
        attempt: [UInt8], as person: Person, session: [UInt8], at now: Date, until end: Date, note: String
    ) async throws -> Bool {
        try await !connection.execute(
            Self.beginAttempt, attempt, person.name, person.role, session, now, end, note
        ).isEmpty
    }

    /// The person of a session; nil where there is none, or it is over.
    package func person(of session: [UInt8], at now: Date) async throws -> Person? {
        try await connection.execute(Self.find, session, now).first.map(Self.person)
    }

    /// Signs out.
    package func end(_ session: [UInt8], at now: Date) async throws {
        _ = try await connection.execute(Self.end, session, now)
    }

    /// A person who is signed in, in one role.
    package struct SignedIn: Sendable, Equatable {
        package var person: Person
        /// Number of sessions.
        package var sessions: Int
        /// The latest beginning.
        package var begunAt: Date
        /// When the last of them ends by itself.
        package var endsAt: Date
    }

    /// Who is signed in, by name; at most 500.
    package func signedIn(at now: Date) async throws -> [SignedIn] {
        try await connection.execute(Self.signedIn, now).map { row in
            SignedIn(
                person: try Self.person(row), sessions: Int(try row.value("sessions", as: Int64.self)),
                begunAt: try row.value("begun_at"), endsAt: try row.value("ends_at"))
        }
    }

    /// Ends all sessions of a person and makes their unused links useless, with the audit log's entry where there was any.
    /// - Returns: how many sessions and links.
    package func endAll(
        of name: String, at now: Date, audit: OperatorAction
    ) async throws -> (sessions: Int, links: Int) {
        // A session that begins meanwhile has the row of its link: the next statement sees it.
        let row = try await connection.pipeline([
            Command(Self.lockLinks, name),
            Command(Self.endAll, name, now, audit.actor, audit.operation, audit.subject, audit.reason),
        ])[1][0]
        return (Int(try row.value("sessions", as: Int64.self)), Int(try row.value("links", as: Int64.self)))
    }

    /// Deletes links, sessions and selections that are over.
    package func forget(before time: Date) async throws {
        _ = try await connection.pipeline([
            Command(Self.forgetLinks, time), Command(Self.forgetSessions, time), Command(Self.forgetSelections, time),
        ])
    }

    /// What makes the tokens of forms unforgeable.
    package func secret() async throws -> [UInt8] {
        try await connection.execute(Self.secret)[0].value("secret")
    }

    private static func person(_ row: Row) throws -> Person {
        Person(name: try row.value("name"), role: try row.value("role"))
    }

    static let statements = [
        insertLink, begin, beginAttempt, find, end, signedIn, lockLinks, endAll, forgetLinks, forgetSessions,
        forgetSelections, secret,
    ]

    private static let insertLink = Statement(
        "console-link-insert",
        """
        insert into console_login (digest, name, role, created_at, expires_at)
        values ($1::bytea, $2::text, $3::text, $4::timestamptz, $5::timestamptz)
        """)

    private static let begin = Statement(
        "console-session-begin",
        """
        with used as (
            update console_login
            set used_at = $3::timestamptz
            where digest = $1::bytea and used_at is null and expires_at > $3::timestamptz
            returning name, role
        )
        insert into console_session (digest, name, role, created_at, expires_at)
        select $2::bytea, name, role, $3::timestamptz, $4::timestamptz
        from used
        returning name, role
        """)

    private static let beginAttempt = Statement(
        "console-session-begin-attempt",
        """
        with used as (
            insert into console_login (digest, name, role, created_at, expires_at, used_at)
            values ($1::bytea, $2::text, $3::text, $5::timestamptz, $5::timestamptz, $5::timestamptz)
            on conflict do nothing
            returning name, role
        ), begun as (
            insert into console_session (digest, name, role, created_at, expires_at)
            select $4::bytea, name, role, $5::timestamptz, $6::timestamptz
            from used
            returning name, role
        )
        insert into operator_action (acted_at, actor, operation, subject, reason)
        select $5::timestamptz, name, 'console sign-in', role, $7::text
        from begun
        returning id
        """)

    private static let find = Statement(
        "console-session-find",
        """
        select name, role
        from console_session
        where digest = $1::bytea and ended_at is null and expires_at > $2::timestamptz
        """)

    private static let end = Statement(
        "console-session-end",
        "update console_session set ended_at = $2::timestamptz where digest = $1::bytea and ended_at is null")

    private static let signedIn = Statement(
        "console-session-list",
        """
        select name, role, count(*) as sessions, max(created_at) as begun_at, max(expires_at) as ends_at
        from console_session
        where ended_at is null and expires_at > $1::timestamptz
        group by name, role
        order by name, role
        limit 500
        """)

    private static let lockLinks = Statement(
        "console-link-lock",
        """
        select 1 as one
        from console_login
        where name = $1::text and used_at is null
        order by created_at
        for update
        """)

    private static let endAll = Statement(
        "console-session-end-all",
        """
        with unused as (
            update console_login
            set used_at = $2::timestamptz
            where name = $1::text and used_at is null and expires_at > $2::timestamptz
            returning name
        ), ended as (
            update console_session
            set ended_at = $2::timestamptz
            where name = $1::text and ended_at is null and expires_at > $2::timestamptz
            returning name
        ), counted as (
            select (select count(*) from ended) as sessions, (select count(*) from unused) as links
        ), audited as (
            insert into operator_action (acted_at, actor, operation, subject, reason)
            select $2::timestamptz, $3::text, $4::text, $5::text, $6::text
            from counted
            where sessions + links > 0
        )
        select sessions, links
        from counted
        """)

    private static let forgetLinks = Statement(
        "console-link-forget", "delete from console_login where expires_at < $1::timestamptz")
    private static let forgetSessions = Statement(
        "console-session-forget", "delete from console_session where expires_at < $1::timestamptz")
    private static let forgetSelections = Statement(
        "console-selection-forget",
        "delete from console_selection where created_at < $1::timestamptz and (requested_at is null or finished_at is not null)"
    )

    private static let secret = Statement("console-secret", "select secret from console_secret")
}
