import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// One entry of the audit log.
public struct OperatorAction: Sendable, Equatable {
    /// The time of the action.
    public var actedAt: Date
    /// The operator: the user of the operating system, or the name given to the command.
    public var actor: String
    /// The name of the command.
    public var action: String
    /// The object of the command, such as a dead letter's position.
    public var subject: String
    /// Why, in the words of the operator; nil where none was asked for.
    public var note: String?
    /// The app, and the customer of it, that the action was about; nil where it was about neither. An erasure of the customer
    /// finds the entry by it.
    package var about: About?

    /// The app that an action was about, and its customer.
    package struct About: Sendable, Equatable {
        package var environment: StoreEnvironment
        package var bundleId: String
        package var appAccountToken: UUID?
        /// The developer's own id.
        package var customerId: String?

        package init(
            _ environment: StoreEnvironment, _ bundleId: String, account: UUID? = nil, customer: String? = nil
        ) {
            self.environment = environment
            self.bundleId = bundleId
            appAccountToken = account
            customerId = customer
        }

        package init(_ customer: CustomerRecords.Customer) {
            self.init(
                customer.environment, customer.bundleId, account: customer.appAccountToken, customer: customer.id)
        }
    }

    package init(
        actedAt: Date, actor: String, action: String, subject: String, note: String?, about: About? = nil
    ) {
        self.actedAt = actedAt
        self.actor = actor
        self.action = action
        self.subject = subject
        self.note = note
        self.about = about
    }
}

/// The audit log of operators. Rows are only added.
public struct OperatorActionStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Adds entries.
    public func record(_ actions: [OperatorAction]) async throws {
        guard !actions.isEmpty else { return }
        _ = try await connection.pipeline([Self.command(recording: actions)])
    }

    /// Adds an entry within a transaction, for actions that must not happen without one.
    static func command(recording actions: [OperatorAction]) -> Command {
        Command(
            insert, actions.map(\.actedAt), actions.map(\.actor), actions.map(\.action), actions.map(\.subject),
            actions.map(\.note), actions.map(\.about?.environment.rawValue), actions.map(\.about?.bundleId),
            actions.map(\.about?.appAccountToken), actions.map(\.about?.customerId))
    }

    /// The entries about some subjects, oldest first.
    public func actions(on subjects: [String]) async throws -> [OperatorAction] {
        guard !subjects.isEmpty else { return [] }
        return try await connection.execute(Self.bySubject, subjects).map { row in try Self.action(row) }
    }

    /// The latest entries within a range of time, newest first; nil leaves that end open.
    public func newest(_ limit: Int, from: Date? = nil, to: Date? = nil) async throws -> [OperatorAction] {
        try await connection.execute(Self.newest, Int64(limit), from, to).map { row in try Self.action(row) }
    }

    private static func action(_ row: Row) throws -> OperatorAction {
        OperatorAction(
            actedAt: try row.value("acted_at"), actor: try row.value("actor"), action: try row.value("action"),
            subject: try row.value("subject"), note: try row.optional("note"))
    }

    static let insert = Statement(
        "operator-action-insert",
        """
        insert into operator_action (
            acted_at, actor, action, subject, note, environment, bundle_id, app_account_token, customer_id)
        select acted_at, actor, action, subject, note, environment::store_environment, bundle_id, app_account_token,
            customer_id
        from unnest(
            $1::timestamptz[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::uuid[],
            $9::text[])
            with ordinality as given (
                acted_at, actor, action, subject, note, environment, bundle_id, app_account_token, customer_id, place)
        order by place
        """)

    static let bySubject = Statement(
        "operator-action-by-subject",
        """
        select acted_at, actor, action, subject, note
        from operator_action
        where subject = any ($1::text[])
        order by id
        """)

    static let newest = Statement(
        "operator-action-newest",
        """
        select acted_at, actor, action, subject, note
        from operator_action
        where ($2::timestamptz is null or acted_at >= $2::timestamptz)
            and ($3::timestamptz is null or acted_at < $3::timestamptz)
        order by id desc
        limit $1::bigint
        """)
}
