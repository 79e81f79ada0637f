import Contracts
import Operations
import Refunds
import Storage

import struct Foundation.Date

/// Requests for refunds: what waits for an answer, what was told, and what Apple decided.
struct RefundScreens: Sendable {
    struct Row: Sendable {
        let transaction: String
        let address: String?
        let app: String
        let environment: String
        let product: String
        let requested: Moment
        let deadline: Moment
        let state: String
        let because: String?
        let said: String
        let outcome: String
        /// What the policy in force would tell now; empty where it is not looked at.
        var wouldSay = ""

        init(_ entry: RefundRequestPages.Entry, _ masking: Masking, _ now: Date) {
            transaction = masking.id(entry.key.transactionId)
            address = masking.isOn ? nil : RefundScreens.address(entry.key)
            app = entry.bundleId
            environment = entry.key.environment.rawValue
            product = entry.productId ?? ""
            requested = Moment(entry.requestedAt, now: now)
            deadline = Moment(entry.deadline, now: now)
            state = entry.state.rawValue
            because = entry.answer?.failedWith ?? entry.answer?.withheldBecause
            said = entry.answer?.said ?? ""
            outcome = entry.outcome ?? ""
        }
    }

    struct State: Sendable {
        let label: String
        let address: String
        let isCurrent: Bool
    }

    struct Outcome: Sendable {
        let rule: String
        let currency: String
        let requests: Int64
        let sum: String
        let answered: Int64
        let full: Int64
        let prorated: Int64
        let declined: Int64
        let reversed: Int64
        let pending: Int64
        let time: String
    }

    struct Page: Sendable {
        let open: [Row]
        let heading: String
        let states: [State]
        let rows: [Row]
        let older: String?
        let outcomes: [Outcome]
        let hasOutcomes: Bool
        let outcomesOf: String
        let choices: [Scope.Choice]
        let hasChoices: Bool
        let command: String
    }

    private static let limit = 100
    /// The time of which outcomes are shown. Seconds.
    private static let outcomesSpan = 90.0 * 86_400

    let console: Console

    /// `GET /refunds`
    func list(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let (now, masking) = (console.clock.now(), request.masking)
        let state = request.text("state").flatMap(RefundState.init)
        let position = Self.position(request)
        let (open, previews, found, scope, outcomes) = try await console.database.withConnection { connection in
            let pages = RefundRequestPages(connection)
            let undecided = try await pages.undecided(limit: Self.limit, at: now)
            // What the policy says holds the customer's usage.
            let previews = masking.isOn ? [:] : try await pages.previews(undecided, at: now)
            let scope = Scope(try await ConsolePages(connection).apps(), request)
            let outcomes =
                if let app = scope.app {
                    try await RefundOutcomeStore(connection).outcomes(
                        of: app.bundleId, in: app.environment,
                        within: now.addingTimeInterval(-Self.outcomesSpan)..<now)
                } else { [RefundOutcomeStore.Outcome]() }
            return (
                undecided, previews,
                try await pages.search(in: nil, state: state, after: position, limit: Self.limit + 1, at: now), scope,
                outcomes
            )
        }
        let shown = found.entries.prefix(Self.limit)
        let last: RefundRequestPages.Position? =
            found.entries.count > Self.limit
            ? shown.last.map { ($0.requestedAt, $0.key.transactionId) } : found.next
        return console.page(
            "refunds", "Refund requests",
            Page(
                open: open.map { entry in
                    var row = Row(entry, masking, now)
                    row.wouldSay = previews[entry.key]?.text ?? ""
                    return row
                },
                heading: state.map { "Requests that are \($0.rawValue)" } ?? "All requests, the newest first",
                states: Self.states(state), rows: shown.map { Row($0, masking, now) },
                older: last.map { Self.older($0, state, masking) },
                outcomes: outcomes.map(Self.outcome), hasOutcomes: !outcomes.isEmpty,
                outcomesOf: scope.app.map { "\($0.bundleId) in \($0.environment.rawValue)" } ?? "",
                choices: scope.choices, hasChoices: scope.choices.count > 1,
                command: "storekeeper refunds list" + (state.map { " --state \($0.rawValue)" } ?? "")), request)
    }

    private static func states(_ current: RefundState?) -> [State] {
        [State(label: "all", address: "/refunds", isCurrent: current == nil)]
            + RefundState.allCases.map { state in
                State(
                    label: state.rawValue, address: "/refunds?state=\(state.rawValue)", isCurrent: state == current)
            }
    }

    /// A link names a transaction, which a viewer does not see: a viewer's one begins again with the requests of the same
    /// millisecond.
    private static func older(
        _ last: RefundRequestPages.Position, _ state: RefundState?, _ masking: Masking
    ) -> String {
        let before = last.requestedAt.milliseconds
        return "/refunds"
            + FormFields.query([
                ("state", state?.rawValue), ("before", "\(masking.isOn ? before + 1 : before)"),
                ("after", masking.isOn ? nil : last.transactionId),
            ])
    }

    private static func position(_ request: ConsoleRequest) -> (requestedAt: Date, transactionId: String)? {
        guard let before = request.text("before").flatMap({ Int64($0) }), (0...Int64(1) << 50).contains(before)
        else { return nil }
        return (Date(milliseconds: before), request.text("after") ?? "")
    }

    private static func outcome(_ outcome: RefundOutcomeStore.Outcome) -> Outcome {
        Outcome(
            rule: outcome.rule, currency: outcome.currency ?? "", requests: outcome.requests,
            sum: "\(Double(outcome.sum) / 1000)", answered: outcome.answered, full: outcome.refundedInFull,
            prorated: outcome.refundedProrated, declined: outcome.declined, reversed: outcome.reversed,
            pending: outcome.open, time: outcome.medianTime.map { TimeSpan.age($0) } ?? "")
    }

    static func address(_ key: RefundKey) -> String {
        "/refunds/\(key.environment.rawValue)/\(FormFields.encode(key.transactionId))"
    }
}
