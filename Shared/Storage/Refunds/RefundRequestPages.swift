import Contracts
import Postgres
import Refunds

import struct Foundation.Date
import struct Foundation.UUID

/// What became of a request for a refund.
package enum RefundState: String, Sendable, CaseIterable {
    /// Nothing is decided yet, and there is time.
    case open
    /// An answer is stored; Apple has not taken it yet.
    case waiting
    /// Apple took the answer.
    case answered
    /// Nothing was sent: no consent, or the policy says so.
    case withheld
    /// Apple rejected the answer.
    case failed
    /// It was to be answered, and the time was over.
    case missed
    /// Nothing was decided, and the time is over or Apple decided before.
    case unanswered
}

/// Reads refund requests with what was decided about each.
package struct RefundRequestPages: Sendable {
    /// The newest request of a transaction.
    package struct Entry: Sendable, Equatable {
        package var key: RefundKey
        package var originalTransactionId: String
        package var bundleId: String
        package var requestedAt: Date
        package var reason: String?
        /// What Apple decided after it: `refunded`, `declined`, `reversed`; nil where it has not.
        package var outcome: String?
        package var outcomeAt: Date?
        package var state: RefundState
        /// Of the transaction.
        package var productId: String?
        package var priceMilliunits: Int64?
        package var currency: String?
        /// Nil where nothing is decided.
        package var answer: Answer?

        /// When Apple takes no answer any more.
        package var deadline: Date { requestedAt.addingTimeInterval(RefundProgress.limit) }

        init(_ row: Row) throws {
            key = try RefundKey(row)
            originalTransactionId = try row.value("original_transaction_id")
            bundleId = try row.value("bundle_id")
            let requestedAt: Date = try row.value("requested_at")
            self.requestedAt = requestedAt
            reason = try row.optional("reason")
            let outcomeAt: Date? = try row.optional("outcome_at")
            // An earlier outcome is about an earlier request.
            let isDecided = outcomeAt.map { $0 >= requestedAt } ?? false
            self.outcomeAt = isDecided ? outcomeAt : nil
            outcome = isDecided ? try row.optional("outcome") : nil
            state = RefundState(rawValue: try row.value("state")) ?? .open
            productId = try row.optional("product_id")
            priceMilliunits = try row.optional("price_milliunits")
            currency = try row.optional("currency")
            answer = try row.optional("decided_at", as: Date.self) == nil ? nil : try Answer(row)
        }
    }

    /// A decision about a request.
    package struct Answer: Sendable, Equatable {
        package var decidedAt: Date
        /// `policy`, or who answered by hand.
        package var decidedBy: String
        /// Nil where a person decided.
        package var policyVersion: Int64?
        package var rule: String?
        /// What Apple gets; personal data of the customer.
        package var body: String?
        package var adjustments: [String]
        package var withheldBecause: String?
        package var attempts: Int64
        package var sentAt: Date?
        package var failedWith: String?

        init(_ row: Row) throws {
            decidedAt = try row.value("decided_at")
            decidedBy = try row.value("decided_by")
            policyVersion = try row.optional("policy_version")
            rule = try row.optional("rule")
            body = try row.optional("body")
            adjustments = try row.optional("adjustments") ?? []
            withheldBecause = try row.optional("withheld_because")
            attempts = try row.optional("attempts") ?? 0
            sentAt = try row.optional("sent_at")
            failedWith = try row.optional("failed_with")
        }
    }

    /// Of a request in a list.
    package typealias Position = (requestedAt: Date, transactionId: String)

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Requests, the newest first.
    /// - Parameters:
    ///   - environment: nil means both.
    ///   - bundleIds: nil means all apps.
    ///   - position: of the last entry of the page before.
    ///   - searched: how many requests, of each app where apps are given, are read for those in the state; nil means all.
    package func page(
        in environment: StoreEnvironment?, of bundleIds: [String]? = nil, state: RefundState? = nil,
        purchase: String? = nil, after position: Position? = nil, limit: Int, searching searched: Int? = nil,
        at now: Date
    ) async throws -> [Entry] {
        let statement =
            switch (environment != nil, bundleIds != nil, purchase != nil, state) {
            case (true, _, true, _): Self.ofPurchase
            case (true, true, _, .open?): Self.openOfApps
            case (_, _, _, .open?): Self.ofOpen
            case (_, _, _, .waiting?): Self.ofWaiting
            case (true, true, _, .withheld?): Self.withheldOfApps
            case (_, _, _, .withheld?): Self.ofWithheld
            case (true, true, _, _): Self.ofApps
            default: Self.list
            }
        return try await connection.execute(
            statement, environment?.rawValue, bundleIds, state?.rawValue, purchase, nil as String?,
            position?.requestedAt,
            position?.transactionId, Int64(limit), now, searched.map(Int64.init)
        ).map { row in try Entry(row) }
    }

    /// The same, reading a bounded number of requests: of a state that few have, or none, all would be read.
    /// - Returns: the requests, and where fewer were found than the limit, behind which request the search goes on; nil where it
    ///   has read all.
    package func search(
        in environment: StoreEnvironment?, of bundleIds: [String]? = nil, state: RefundState?,
        after position: Position? = nil, limit: Int, searching searched: Int = 10_000, at now: Date
    ) async throws -> (entries: [Entry], next: Position?) {
        let isIndexed = state == nil || state == .open || state == .waiting || state == .withheld
        let entries = try await page(
            in: environment, of: bundleIds, state: state, after: position, limit: limit,
            searching: isIndexed ? nil : searched, at: now)
        guard !isIndexed, entries.count < limit else { return (entries, nil) }
        let row = try await connection.execute(
            environment != nil && bundleIds != nil ? Self.lastOfApps : Self.last, environment?.rawValue, bundleIds,
            position?.requestedAt, position?.transactionId, Int64(searched - 1)
        ).first
        guard let row else { return (entries, nil) }
        let end: Position = (try row.value("requested_at"), try row.value("transaction_id"))
        // Of an app whose search ended later, older ones may be missing.
        return (
            entries.filter {
                $0.requestedAt > end.requestedAt
                    || $0.requestedAt == end.requestedAt && $0.key.transactionId >= end.transactionId
            }, end
        )
    }

    /// Requests of all apps that may still be answered, by hand too: open, waiting or withheld, the next deadline first.
    package func undecided(limit: Int, at now: Date) async throws -> [Entry] {
        try await connection.execute(
            Self.answerable, nil as String?, nil as [String]?, nil as String?, nil as String?, nil as String?,
            nil as Date?, nil as String?, Int64(limit), now, nil as Int64?
        ).map { row in try Entry(row) }
    }

    /// The request about a transaction; nil where there never was one.
    package func find(_ key: RefundKey, at now: Date) async throws -> Entry? {
        try await connection.execute(
            Self.ofTransaction, key.environment.rawValue, nil as [String]?, nil as String?, nil as String?,
            key.transactionId,
            nil as Date?, nil as String?, Int64(1), now, nil as Int64?
        ).first.map { row in try Entry(row) }
    }

    /// All decisions about a transaction, the oldest first.
    package func answers(_ key: RefundKey) async throws -> [Answer] {
        try await connection.execute(Self.decisions, key.environment.rawValue, key.transactionId)
            .map { row in try Answer(row) }
    }

    /// The account whose consent the answer needs: the owner of the purchase, else one that may use it; nil where there is none.
    package func account(of entry: Entry) async throws -> UUID? {
        try await connection.execute(
            Self.account, entry.key.environment.rawValue, entry.originalTransactionId, entry.bundleId
        ).first.map { row in try row.value("app_account_token") }
    }

    /// What the policy in force would decide now about open requests; nil for one without a policy.
    package func previews(_ entries: [Entry], at now: Date) async throws -> [RefundKey: RefundDecision] {
        let open = entries.filter { $0.state == .open || $0.state == .withheld && $0.outcome == nil }
        guard !open.isEmpty else { return [:] }
        let rows = try await connection.pipeline([
            RefundSubjects.command(open.map(\.key))
        ])
        var policies: [String: RefundPolicy?] = [:]
        var previews: [RefundKey: RefundDecision] = [:]
        for (entry, subject) in zip(open, try RefundSubjects.subjects(rows[0])) {
            let app = "\(entry.key.environment.rawValue) \(entry.bundleId)"
            if policies[app] == nil {
                let version = try await RefundPolicyStore(connection).inForce(entry.bundleId, in: entry.key.environment)
                policies[app] = .some(version.flatMap { try? $0.policy })
            }
            if let policy = policies[app] ?? nil, let subject { previews[entry.key] = policy.decide(subject, at: now) }
        }
        return previews
    }

    static let statements = [
        list, ofApps, ofOpen, openOfApps, ofWaiting, ofWithheld, withheldOfApps, answerable, ofPurchase, ofTransaction,
        decisions, account, last, lastOfApps,
    ]

    private static let isOpen = "request.requested_at > coalesce(request.outcome_at, '-infinity')"

    private static let list = listed("refund-request-list", [])

    /// A plan that is made once finds rows by an index only where its condition cannot be absent.
    private static let ofApps = listedForEachApp("refund-request-list-apps", [.environment])
    private static let ofOpen = listed("refund-request-list-open", [.time])
    private static let openOfApps = listed("refund-request-list-apps-open", [.environment, .app, .time])
    /// The statements for states that few requests among many have.
    private static let ofWaiting = listed("refund-request-list-waiting", [.planned])
    private static let ofWithheld = listed("refund-request-list-withheld", [.withheld])
    private static let withheldOfApps = listedForEachApp(
        "refund-request-list-apps-withheld", [.environment, .withheld])
    private static let answerable = listed(
        "refund-request-list-undecided", [.time], order: "requested_at, transaction_id",
        states: "state in ('open', 'waiting', 'withheld') and $3::text is null", first: "$10::bigint")
    private static let ofPurchase = listed("refund-request-list-purchase", [.environment, .purchase])
    private static let ofTransaction = listed("refund-request-find", [.environment, .transaction])

    private enum Selection: CaseIterable {
        case environment, app, purchase, transaction
        /// Apple takes an answer yet.
        case time
        /// The scheduler looks at the request again, as it does while an answer waits.
        case planned
        /// An answer was withheld, of this request or an earlier one about the transaction.
        case withheld

        /// What selects where it is not null; nil: nothing does.
        var value: String? {
            switch self {
            case .environment: "$1::text"
            case .app: "$2::text[]"
            case .purchase: "$4::text"
            case .transaction: "$5::text"
            case .time, .planned, .withheld: nil
            }
        }

        var condition: String {
            switch self {
            case .environment: "request.environment = $1::text::store_environment"
            case .app: "request.bundle_id = any ($2::text[])"
            case .purchase: "request.original_transaction_id = $4::text"
            case .transaction: "request.transaction_id = $5::text"
            case .planned: "request.next_at is not null"
            case .withheld: "request.was_withheld"
            case .time: "request.requested_at > $9::timestamptz - interval '12 hours' and \(RefundRequestPages.isOpen)"
            }
        }
    }

    /// - Parameters:
    ///   - given: what is never null; the rest selects where it is not null.
    ///   - states: which states are listed.
    ///   - first: the number of rows of which answers are looked up at most; null is all until enough are found.
    private static func listed(
        _ name: StaticString, _ given: Set<Selection>, order: String = Self.newest, states: String = Self.ofState,
        first: String = Self.untilEnough
    ) -> Statement {
        let selections = Selection.allCases.compactMap { selection in
            given.contains(selection)
                ? selection.condition : selection.value.map { "(\($0) is null or \(selection.condition))" }
        }
        return Statement(
            name, unsafeSQL: selected(selections.joined(separator: " and "), order: order, states: states, first: first)
        )
    }

    /// The newest of each app by its own rows of an index, and of these the newest: in one list of all apps, those of an app with few
    /// requests would come after all newer ones of the others.
    /// - Parameter given: what selects beside the app.
    private static func listedForEachApp(_ name: StaticString, _ given: [Selection]) -> Statement {
        // Conditions that may be absent would have the planner expect few rows, and sort all of an app.
        let absent = [Selection.purchase, .transaction].compactMap(\.value).map { "\($0) is null" }
        let selections = given.map(\.condition) + ["request.bundle_id = app.bundle_id"] + absent
        return Statement(
            name,
            unsafeSQL: """
                select listed.*
                from (select distinct bundle_id from unnest($2::text[]) as given (bundle_id)) as app
                cross join lateral (
                    \(selected(selections.joined(separator: " and "), order: newest, states: ofState, first: untilEnough))
                ) as listed
                order by \(newest)
                limit $8::bigint
                """)
    }

    private static let newest = "requested_at desc, transaction_id desc"
    private static let ofState = "$3::text is null or state = $3::text"
    private static let untilEnough = "case when $3::text is null then $8::bigint else $10::bigint end"

    private static func selected(_ selections: String, order: String, states: String, first: String) -> String {
        """
        select *
        from (
            select request.environment::text as environment, request.transaction_id, request.original_transaction_id,
                request.bundle_id, request.requested_at, request.reason, request.outcome, request.outcome_at,
                held.product_id, held.price_milliunits, held.currency, answer.decided_at, answer.decided_by,
                answer.policy_version, answer.rule, answer.body, answer.adjustments, answer.withheld_because,
                answer.attempts, answer.sent_at, answer.failed_with,
                case
                    when answer.sent_at is not null then 'answered'
                    when answer.failed_with = 'missed' or answer.withheld_because = 'late' then 'missed'
                    when answer.withheld_because is not null or answer.failed_with = 'consentWithdrawn' then 'withheld'
                    when answer.failed_with is not null then 'failed'
                    when answer.body is not null and \(isOpen) then 'waiting'
                    when answer.body is null and \(isOpen)
                        and request.requested_at > $9::timestamptz - interval '12 hours' then 'open'
                    else 'unanswered'
                end as state
            from (
                select *
                from refund_request request
                where request.requested_at is not null and \(selections)
                    and (request.requested_at, request.transaction_id)
                        < (coalesce($6::timestamptz, 'infinity'), coalesce($7::text, ''))
                order by \(order)
                limit \(first)
            ) as request
            left join transaction held
                on held.environment = request.environment and held.transaction_id = request.transaction_id
            left join lateral (
                select *
                from refund_answer decided
                where decided.environment = request.environment and decided.transaction_id = request.transaction_id
                    and case
                        when \(isOpen) then decided.decided_at > coalesce(request.outcome_at, '-infinity')
                        when decided.decided_at > request.requested_at - interval '12 hours' then true
                        -- A request may have repeated for longer; only an outcome in between makes it another one.
                        else not exists (
                            select
                            from notification told
                            where told.environment = request.environment
                                and told.original_transaction_id = request.original_transaction_id
                                and told.transaction_id = request.transaction_id
                                and told.notification_type in ('REFUND', 'REFUND_DECLINED', 'REFUND_REVERSED')
                                and told.signed_at >= decided.decided_at and told.signed_at < request.requested_at)
                    end
                order by decided.decided_at desc, decided.id desc
                limit 1
            ) as answer on true
        ) as request
        where \(states)
        order by \(order)
        limit $8::bigint
        """
    }

    /// The request at which a search of a bounded number of requests ends.
    private static let last = Statement(
        "refund-request-search-last",
        """
        select requested_at, transaction_id
        from refund_request request
        where request.requested_at is not null
            and ($1::text is null or request.environment = $1::text::store_environment)
            and ($2::text[] is null or request.bundle_id = any ($2::text[]))
            and (request.requested_at, request.transaction_id)
                < (coalesce($3::timestamptz, 'infinity'), coalesce($4::text, ''))
        order by requested_at desc, transaction_id desc
        limit 1
        offset $5::bigint
        """)

    /// Of the apps, the one whose search ends first.
    private static let lastOfApps = Statement(
        "refund-request-search-last-apps",
        """
        select ended.requested_at, ended.transaction_id
        from (select distinct bundle_id from unnest($2::text[]) as given (bundle_id)) as app
        cross join lateral (
            select requested_at, transaction_id
            from refund_request request
            where request.requested_at is not null and request.environment = $1::text::store_environment
                and request.bundle_id = app.bundle_id
                and (request.requested_at, request.transaction_id)
                    < (coalesce($3::timestamptz, 'infinity'), coalesce($4::text, ''))
            order by requested_at desc, transaction_id desc
            limit 1
            offset $5::bigint
        ) as ended
        order by ended.requested_at desc, ended.transaction_id desc
        limit 1
        """)

    /// As ``RefundSubjects`` reads it.
    private static let account = Statement(
        "refund-request-account",
        """
        select app_account_token
        from purchase_account
        where environment = $1::text::store_environment and original_transaction_id = $2::text
            and bundle_id = $3::text and (may_use or because = 'owner')
        order by because = 'owner' desc, decided_at, app_account_token
        limit 1
        """)

    private static let decisions = Statement(
        "refund-answer-list",
        """
        select decided_at, decided_by, policy_version, rule, body, adjustments, withheld_because, attempts, sent_at,
            failed_with
        from refund_answer
        where environment = $1::text::store_environment and transaction_id = $2::text
        order by decided_at, id
        """)
}
