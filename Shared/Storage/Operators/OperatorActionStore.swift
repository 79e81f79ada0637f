import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// One entry of the audit log.
public struct OperatorAction: Sendable, Equatable {
    /// The time of the action.
    public var actedAt: Date
    /// The person who acted, or the API key by its name.
    public var actor: String
    /// The API key that acted; nil where a person did.
    package var apiKey: UUID?
    /// As the command is spelled, such as `customers grant`, also where the console or a backend asked for it.
    public var operation: String
    /// The object, without its app: a purchase, an account, a dead letter's position.
    public var subject: String
    /// Why, in the words of the actor; nil where none was asked for.
    public var reason: String?
    /// What became of it.
    package var outcome: Outcome
    /// The environment, the app and the customer of it that the action was about; nil where it was about none. An erasure of the
    /// customer finds the entry by it.
    package var about: About?

    /// What became of an operation. One that nothing outside of the database decides has one row, `done`.
    package enum Outcome: String, Sendable {
        /// Apple is asked next; another row follows.
        case requested
        case done
        case failed
    }

    /// The environment that an action was about, the app and its customer.
    package struct About: Sendable, Equatable {
        package var environment: StoreEnvironment
        /// Nil: all apps.
        package var bundleId: String?
        package var appAccountToken: UUID?
        /// The developer's own id.
        package var customerId: String?

        package init(
            _ environment: StoreEnvironment, _ bundleId: String? = nil, account: UUID? = nil, customer: String? = nil
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
        actedAt: Date, actor: String, apiKey: UUID? = nil, operation: String, subject: String, reason: String?,
        outcome: Outcome = .done, about: About? = nil
    ) {
        self.actedAt = actedAt
        self.actor = actor
        self.apiKey = apiKey
        self.operation = operation
        self.subject = subject
        self.reason = reason
        self.outcome = outcome
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

    /// Adds the entry of an action that is about to be asked for, unless the same one, by operation and subject, was asked for before
    /// and has not certainly failed.
    /// - Returns: whether it may be asked for.
    package func begin(_ action: OperatorAction) async throws -> Bool {
        try await connection.transaction { transaction in
            let rows = try transaction.pipeline([
                Command(Self.lock, action.subject), Command(Self.unfailed, action.subject, action.operation),
            ])[1]
            guard rows.isEmpty else { return false }
            try transaction.commit(after: [Self.command(recording: [action])])
            return true
        }
    }

    /// Adds an entry within a transaction, for actions that must not happen without one.
    package static func command(recording actions: [OperatorAction]) -> Command {
        Command(
            insert, actions.map(\.actedAt), actions.map(\.actor), actions.map(\.operation), actions.map(\.subject),
            actions.map(\.reason), actions.map(\.about?.environment.rawValue), actions.map(\.about?.bundleId),
            actions.map(\.about?.appAccountToken), actions.map(\.about?.customerId), actions.map(\.apiKey),
            actions.map(\.outcome.rawValue))
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

    static func action(_ row: Row) throws -> OperatorAction {
        let environment: String? = try row.optional("environment")
        return OperatorAction(
            actedAt: try row.value("acted_at"), actor: try row.value("actor"), apiKey: try row.optional("api_key_id"),
            operation: try row.value("operation"), subject: try row.value("subject"),
            reason: try row.optional("reason"),
            outcome: OperatorAction.Outcome(rawValue: try row.value("outcome")) ?? .done,
            about: try environment.map { _ in
                OperatorAction.About(
                    try SubscriptionStore.environment(row), try row.optional("bundle_id"),
                    account: try row.optional("app_account_token"), customer: try row.optional("customer_id"))
            })
    }

    static let columns = """
        acted_at, actor, api_key_id, operation, subject, reason, outcome, environment::text as environment, bundle_id,
            app_account_token, customer_id
        """

    static let insert = Statement(
        "operator-action-insert",
        """
        insert into operator_action (
            acted_at, actor, operation, subject, reason, environment, bundle_id, app_account_token, customer_id,
            api_key_id, outcome)
        select acted_at, actor, operation, subject, reason, environment::store_environment, bundle_id,
            app_account_token, customer_id, api_key_id, outcome
        from unnest(
            $1::timestamptz[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::uuid[],
            $9::text[], $10::uuid[], $11::text[])
            with ordinality as given (
                acted_at, actor, operation, subject, reason, environment, bundle_id, app_account_token, customer_id,
                api_key_id, outcome, place)
        order by place
        """)

    static let bySubject = Statement(
        "operator-action-by-subject",
        unsafeSQL: """
            select \(columns)
            from operator_action
            where subject = any ($1::text[])
            order by id
            """)

    /// Until the end of the transaction.
    static let lock = Statement(
        "operator-action-lock",
        "select pg_advisory_xact_lock(hashtextextended(current_schema() || ' operator action ' || $1::text, 0))")

    static let unfailed = Statement(
        "operator-action-unfailed",
        """
        select 1 as one
        from operator_action
        where subject = $1::text and operation = $2::text
        having count(*) filter (where outcome = 'requested') > count(*) filter (where outcome = 'failed')
        """)

    static let newest = Statement(
        "operator-action-newest",
        unsafeSQL: """
            select \(columns)
            from operator_action
            where ($2::timestamptz is null or acted_at >= $2::timestamptz)
                and ($3::timestamptz is null or acted_at < $3::timestamptz)
            order by id desc
            limit $1::bigint
            """)
}
