import Contracts
import Postgres
import Refunds

import struct Foundation.Date

/// Decides refund requests and keeps what became of the answers. Every decision is made under a lock on the row of the request, so
/// that an open request gets one.
package struct RefundDecisionStore: Sendable {
    /// How long a process that took a body to send has for it; another one sends the same body after that. Seconds.
    package static let claim = 90.0
    /// How often a request without consent is looked at again. Seconds.
    package static let consentInterval = 300.0

    let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// A body that Apple is to get.
    package struct Sending: Sendable, Equatable {
        package var key: RefundKey
        package var bundleId: String
        /// Of the answer.
        package var id: Int64
        package var body: String
        /// Of Apple's endpoint.
        package var apiVersion: Int
        /// With this one.
        package var attempts: Int
        /// Apple takes it until then.
        package var deadline: Date
    }

    /// What a look at a request led to.
    package enum Turn: Sendable, Equatable {
        /// Another process has the row, or nothing is due.
        case nothing
        /// Nothing will be sent.
        case withheld(RefundDecision.WithheldReason)
        /// The request is looked at again later.
        case waiting
        /// The body is stored, and to be sent now.
        case send(Sending)
        /// The time is over.
        case missed
        /// Apple must not be told any more: the consent was withdrawn.
        case withdrawn
        /// The policy in force cannot be read by this build.
        case unreadable(RefundPolicyFaults)
    }

    /// The open requests that are due, the longest waiting first.
    package func due(at now: Date, limit: Int) async throws -> [RefundKey] {
        try await connection.execute(Self.due, now, Int64(limit)).map { row in try RefundKey(row) }
    }

    /// Looks at a request and takes the next step.
    /// - Returns: what it led to, and the app of the request.
    package func look(at key: RefundKey, now: Date) async throws -> (turn: Turn, bundleId: String) {
        try await repeating {
            try await connection.transaction { transaction in
                guard
                    try !transaction.execute(Self.lock, key.environment.rawValue, key.transactionId, now).isEmpty,
                    let request = try Self.locked(key, in: transaction)
                else { return (.nothing, "") }
                return (try Self.step(request, at: now, in: transaction), request.bundleId)
            }
        }
    }

    /// Reads a request after its row was locked, by a statement of its own: the one that waited for the lock does not see the decision
    /// that was made meanwhile.
    static func locked(
        _ key: RefundKey, in transaction: PostgresTransaction
    ) throws -> LockedRequest? {
        try transaction.execute(read, key.environment.rawValue, key.transactionId).first
            .map { row in try LockedRequest(row, key) }
    }

    /// A request whose row is locked, with its newest decision.
    struct LockedRequest {
        var key: RefundKey
        var bundleId: String
        var progress: RefundProgress
        var body: String?
        var apiVersion: Int
        var attempts: Int

        init(_ row: Row, _ key: RefundKey) throws {
            self.key = key
            bundleId = try row.value("bundle_id")
            body = try row.optional("body")
            apiVersion = Int(try row.optional("api_version", as: Int16.self) ?? 2)
            attempts = Int(try row.optional("attempts", as: Int64.self) ?? 0)
            progress = try RefundProgress(row)
        }
    }

    private static func step(
        _ request: LockedRequest, at now: Date, in transaction: PostgresTransaction
    ) throws -> Turn {
        let step = request.progress.step(at: now)
        switch step {
        case .nothing:
            try plan(request, at: nil, in: transaction)
            return .nothing
        case .miss(let id?):
            _ = try transaction.pipeline([
                Command(failed, id, now, RefundFailure.missed.rawValue), planned(request, at: nil),
            ])
            return .missed
        case .miss(nil): return try missUndecided(request, at: now, in: transaction)
        case .decide: return try decide(request, at: now, in: transaction)
        case .send(let id): return try take(id, of: request, at: now, in: transaction)
        }
    }

    /// A request whose time was over before the app had a policy was never to be answered.
    private static func missUndecided(
        _ request: LockedRequest, at now: Date, in transaction: PostgresTransaction
    ) throws -> Turn {
        let first = try transaction.execute(firstPolicy, request.key.environment.rawValue, request.bundleId).first?
            .optional("created_at", as: Date.self)
        guard let first, let deadline = request.progress.deadline, first < deadline else {
            try plan(request, at: nil, in: transaction)
            return .nothing
        }
        _ = try transaction.pipeline([
            inserted(Decided(withheld: .late, by: "policy"), request, at: now), planned(request, at: nil),
        ])
        return .missed
    }

    private static func decide(
        _ request: LockedRequest, at now: Date, in transaction: PostgresTransaction
    ) throws -> Turn {
        let rows = try transaction.pipeline([
            Command(RefundPolicyStore.newest, request.key.environment.rawValue, request.bundleId, Int64(1)),
            RefundSubjects.command([request.key]),
        ])
        // Without a policy a person may still answer; a policy that is set has the request looked at.
        guard let version = try rows[0].first.map({ row in try RefundPolicyStore.Version(row) }),
            let deadline = request.progress.deadline
        else {
            try plan(request, at: nil, in: transaction)
            return .nothing
        }
        guard let subject = try RefundSubjects.subjects(rows[1]).first ?? nil else {
            // The ledger's notification is not there yet, as while a rebuild runs.
            try plan(request, at: min(now.addingTimeInterval(consentInterval), deadline), in: transaction)
            return .waiting
        }
        let policy: RefundPolicy
        do throws(RefundPolicyFaults) { policy = try version.policy } catch {
            try plan(request, at: min(now.addingTimeInterval(consentInterval), deadline), in: transaction)
            return .unreadable(error)
        }
        switch policy.decide(subject, at: now) {
        case .wait(let until, _):
            try plan(request, at: min(until, deadline), in: transaction)
            return .waiting
        case .withhold(let reason, let rule):
            let next = reason.isFinal ? nil : min(now.addingTimeInterval(consentInterval), deadline)
            let isKnown = request.progress.current?.withheld == reason
            let row = inserted(
                Decided(withheld: reason, by: "policy", version: version.number, rule: rule), request, at: now)
            _ = try transaction.pipeline((isKnown ? [] : [row]) + [planned(request, at: next)])
            return isKnown ? .waiting : .withheld(reason)
        case .answer(let answer, let rule):
            return try store(
                Decided(answer, by: "policy", version: version.number, rule: rule), request, deadline: deadline,
                at: now,
                in: transaction)
        }
    }

    /// Stores the body, and takes it to be sent.
    private static func store(
        _ decided: Decided, _ request: LockedRequest, deadline: Date, at now: Date, in transaction: PostgresTransaction
    ) throws -> Turn {
        let rows = try transaction.pipeline([
            inserted(decided, request, at: now, attempts: 1), planned(request, at: now.addingTimeInterval(claim)),
        ])
        return .send(
            Sending(
                key: request.key, bundleId: request.bundleId, id: try rows[0][0].value("id"), body: decided.body ?? "",
                apiVersion: decided.apiVersion ?? 2, attempts: 1, deadline: deadline))
    }

    /// Takes a stored body to be sent, unless the consent was withdrawn since: then it is looked at again, because a consent that is
    /// given once more lets it be sent.
    private static func take(
        _ id: Int64, of request: LockedRequest, at now: Date, in transaction: PostgresTransaction
    ) throws -> Turn {
        let rows = try transaction.pipeline([
            Command(RefundPolicyStore.newest, request.key.environment.rawValue, request.bundleId, Int64(1)),
            RefundSubjects.command([request.key]),
        ])
        let later = min(now.addingTimeInterval(consentInterval), request.progress.deadline ?? now)
        let version = try rows[0].first.map { row in try RefundPolicyStore.Version(row) }
        let terms: RefundPolicy.Consent?
        do throws(RefundPolicyFaults) { terms = try version?.policy.consent } catch {
            try plan(request, at: later, in: transaction)
            return .unreadable(error)
        }
        let account = try RefundSubjects.subjects(rows[1]).first??.account
        guard let account, account.isConsenting(under: terms) else {
            let isKnown = request.progress.current?.failure == .withdrawn
            _ = try transaction.pipeline([
                Command(failed, id, now, RefundFailure.consentWithdrawn.rawValue), planned(request, at: later),
            ])
            return isKnown ? .waiting : .withdrawn
        }
        _ = try transaction.pipeline([
            Command(attempted, id), planned(request, at: now.addingTimeInterval(claim)),
        ])
        return .send(
            Sending(
                key: request.key, bundleId: request.bundleId, id: id, body: request.body ?? "",
                apiVersion: request.apiVersion, attempts: request.attempts + 1,
                deadline: request.progress.deadline ?? now))
    }

    /// What became of an attempt.
    package enum Result: Sendable, Equatable {
        /// Apple answered 202.
        case accepted
        /// Apple will not take it: its code, or the status.
        case rejected(String)
        /// It is sent again then.
        case again(Date)
    }

    /// Stores what became of an attempt.
    package func settle(_ sending: Sending, _ result: Result, at now: Date) async throws {
        let (environment, transactionId) = (sending.key.environment.rawValue, sending.key.transactionId)
        let over = Command(Self.settling, environment, transactionId, sending.id, now)
        // The request first, as every other transaction locks it first.
        let commands: [Command]
        switch result {
        case .accepted: commands = [over, Command(Self.sent, sending.id, now)]
        case .rejected(let code): commands = [over, Command(Self.failed, sending.id, now, code)]
        case .again(let moment):
            commands = [Command(Self.planning, environment, transactionId, min(moment, sending.deadline))]
        }
        _ = try await repeating { try await connection.pipeline(commands) }
    }

    /// Has a request looked at later.
    package func postpone(_ key: RefundKey, to moment: Date) async throws {
        _ = try await repeating {
            try await connection.execute(Self.planning, key.environment.rawValue, key.transactionId, moment)
        }
    }

    /// A row of refund_answer.
    struct Decided {
        var body: String?
        var apiVersion: Int?
        var adjustments: [String] = []
        var withheld: RefundDecision.WithheldReason?
        var decidedBy: String
        var version: Int64?
        var rule: String?

        init(
            withheld: RefundDecision.WithheldReason, by name: String, version: Int64? = nil, rule: String? = nil
        ) {
            self.withheld = withheld
            decidedBy = name
            self.version = version
            self.rule = rule
        }

        init(_ answer: RefundAnswer, by name: String, version: Int64? = nil, rule: String? = nil) {
            body = String(decoding: answer.body, as: UTF8.self)
            apiVersion = answer.apiVersion
            adjustments = answer.adjustments
            decidedBy = name
            self.version = version
            self.rule = rule
        }
    }

    static func inserted(
        _ decided: Decided, _ request: LockedRequest, at now: Date, attempts: Int64 = 0
    ) -> Command {
        // The outcome is by Apple's clock. A decision from before it is about an earlier request, and this one would be decided again.
        // A decision before this one may be by the clock of another machine, or by this one's before it was set back.
        let decidedAt = max(
            now, request.progress.outcomeAt?.addingTimeInterval(0.001) ?? now, request.progress.latest?.decidedAt ?? now
        )
        return Command(
            insert, request.key.environment.rawValue, request.key.transactionId, request.bundleId,
            request.progress.requestedAt, decidedAt, decided.version, decided.rule, decided.body,
            decided.apiVersion.map { Int16($0) }, decided.adjustments, decided.withheld?.rawValue, decided.decidedBy,
            attempts)
    }

    static func planned(_ request: LockedRequest, at moment: Date?) -> Command {
        Command(planning, request.key.environment.rawValue, request.key.transactionId, moment)
    }

    private static func plan(_ request: LockedRequest, at moment: Date?, in transaction: PostgresTransaction) throws {
        _ = try transaction.pipeline([planned(request, at: moment)])
    }
}

/// Why a body that was stored is not sent; Apple's codes stand beside these.
package enum RefundFailure: String, Sendable {
    case missed
    case consentWithdrawn

    fileprivate var failure: RefundProgress.Failure {
        switch self {
        case .missed: .missed
        case .consentWithdrawn: .withdrawn
        }
    }
}

extension RefundProgress {
    /// From the columns of a request and its newest decision.
    init(_ row: Row) throws {
        var latest: Decision?
        if let id = try row.optional("id", as: Int64.self) {
            let failure: String? = try row.optional("failed_with")
            latest = Decision(
                id: id, decidedAt: try row.value("decided_at"),
                withheld: try row.optional("withheld_because", as: String.self).map {
                    RefundDecision.WithheldReason(rawValue: $0) ?? .rule
                }, isSent: try row.optional("sent_at", as: Date.self) != nil,
                failure: failure.map { RefundFailure(rawValue: $0)?.failure ?? .final })
        }
        self.init(
            requestedAt: try row.optional("requested_at"), outcomeAt: try row.optional("outcome_at"), latest: latest)
    }
}
