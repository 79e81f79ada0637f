import Contracts
import Operations
import Refunds
import Storage

import struct Foundation.Date

/// One refund request with its decisions, and an answer by hand.
struct RefundScreen: Sendable {
    struct Fact: Sendable {
        let name: String
        let value: String
    }

    struct Decision: Sendable {
        let decided: Moment
        let by: String
        let rule: String
        let told: String
        let adjustments: [String]
        let attempts: Int64
        let sent: Moment?
        let failed: String
    }

    struct Page: Sendable {
        let transaction: String
        let purchase: String
        let purchaseAddress: String
        let sentence: String
        let facts: [Fact]
        let decisions: [Decision]
        /// Nil where the request cannot be answered by hand any more.
        let form: ActionForm?
        let command: String
    }

    private static let preferences = RefundPreference.allCases.map(\.rawValue)
    private static let deliveries = DeliveryStatus.allCases.map(\.rawValue)

    let console: Console

    /// `GET /refunds/{environment}/{id}`
    func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let (now, key) = (console.clock.now(), try Self.key(request))
        let (entry, answers, preview, bought) = try await console.database.withConnection { connection in
            let pages = RefundRequestPages(connection)
            guard let entry = try await pages.find(key, at: now) else {
                throw Fault.notFound("No refund of such a transaction was requested.")
            }
            let transaction = try await PurchasePages(connection).transaction(key.transactionId, in: key.environment)
            return (
                entry, try await pages.answers(key), try await pages.previews([entry], at: now)[key],
                try await ConsumableView(
                    (transaction?.version.facts).map { [$0] } ?? [], in: key.environment, on: connection)
            )
        }
        let facts: [(String, String?)] = [
            ("app", "\(entry.bundleId) \(key.environment.rawValue)"), ("product", entry.productId),
            ("price", entry.price),
            ("bought", bought.credits.first), ("requested", Moment(entry.requestedAt, now: now).text),
            ("reason", entry.reason),
            ("answer until", Moment(entry.deadline, now: now).text),
            ("Apple", entry.outcome.map { "\($0), \(entry.outcomeAt.map { Moment($0, now: now).text } ?? "")" }),
            ("the policy would tell", preview?.text),
        ]
        let balances = bought.balances.map { Fact(name: "balance of the account", value: $0) }
        return console.page(
            "refund", "Refund request",
            Page(
                transaction: key.transactionId, purchase: entry.originalTransactionId,
                purchaseAddress:
                    "/purchases/\(key.environment.rawValue)/\(FormFields.encode(entry.originalTransactionId))",
                sentence: Self.sentence(entry, now),
                facts: facts.compactMap { name, value in value.map { Fact(name: name, value: $0) } } + balances,
                decisions: answers.map { Self.decision($0, now) },
                form: Self.mayAnswer(entry, now) ? Self.form(key, request) : nil,
                command:
                    "storekeeper refunds show \(shellWord(key.transactionId)) --environment \(key.environment.rawValue)"
            ), request)
    }

    /// `POST /refunds/{environment}/{id}/answer`
    func answer(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let key = try Self.key(request)
        let preference = try Self.value(request, "preference", Self.preferences, RefundPreference.init)
        let delivery = try Self.value(request, "delivery", Self.deliveries, DeliveryStatus.init)
        let percentage = try Self.value(request, "percentage", []) { Int64($0) }
        let usage =
            percentage == nil && delivery == nil
            ? nil : RefundSubject.UsageReport(percentage: percentage, deliveryStatus: delivery)
        let operation = try AnswerRefund(key, preference: preference, usage: usage)
        let performer = try console.performer(request)
        return try await console.database.withConnection { connection in
            do {
                if request.isDryRun {
                    return console.page(of: try await operation.plan(on: connection, by: performer), request)
                }
                try await operation.perform(on: connection, by: performer)
            } catch let refusal as AnswerRefund.Refusal {
                throw Fault(409, "Nothing was done: \(refusal).", "Reload the request.")
            }
            return .redirect(to: "\(RefundScreens.address(key))?done=answer")
        }
    }

    private static func key(_ request: ConsoleRequest) throws -> RefundKey {
        RefundKey(try request.environment(), request.parameters["id"] ?? "")
    }

    /// A field that may be empty.
    private static func value<Value>(
        _ request: ConsoleRequest, _ name: String, _ known: [String], _ read: (String) -> Value?
    ) throws -> Value? {
        let text = (request.form[name] ?? "").filter { !$0.isWhitespace }
        guard !text.isEmpty else { return nil }
        guard let value = read(text) else {
            throw Fault(
                422, "Nothing was done: the \(name) is not known.",
                known.isEmpty ? "Give a whole number." : "Give \(known.joined(separator: ", ")).", field: name)
        }
        return value
    }

    private static func mayAnswer(_ entry: RefundRequestPages.Entry, _ now: Date) -> Bool {
        entry.outcome == nil && entry.deadline > now && [.open, .withheld].contains(entry.state)
            && entry.answer?.body == nil
    }

    private static func sentence(_ entry: RefundRequestPages.Entry, _ now: Date) -> String {
        let deadline = Moment(entry.deadline, now: now)
        return switch entry.state {
        case .open: "Nothing is decided yet; Apple takes an answer until \(deadline.text) (\(deadline.distance))."
        case .waiting: "The answer is stored, and sent until Apple takes it or \(deadline.text) (\(deadline.distance))."
        case .answered: "Apple took the answer."
        case .withheld: "Nothing is told to Apple: \(entry.answer?.withheldBecause ?? "the consent was withdrawn")."
        case .failed: "Apple rejected the answer: \(entry.answer?.failedWith ?? "")."
        case .missed: "It was to be answered, and the 12 hours were over."
        case .unanswered: "Nothing was told to Apple: the app had no policy, or Apple decided before."
        }
    }

    private static func decision(_ answer: RefundRequestPages.Answer, _ now: Date) -> Decision {
        Decision(
            decided: Moment(answer.decidedAt, now: now), by: answer.decidedBy, rule: answer.rule ?? "",
            told: answer.body ?? "nothing: \(answer.withheldBecause ?? "")", adjustments: answer.adjustments,
            attempts: answer.attempts, sent: answer.sentAt.map { Moment($0, now: now) }, failed: answer.failedWith ?? ""
        )
    }

    private static func form(_ key: RefundKey, _ request: ConsoleRequest) -> ActionForm {
        ActionForm(
            id: "answer", title: "Answer by hand",
            explanation:
                "Decides in place of the policy. The scheduler tells Apple within seconds; what is left empty is taken from the newest "
                + "report of usage. Apple gets one answer to a request.",
            address: "\(RefundScreens.address(key))/answer", button: "Answer",
            inputs: [
                ActionForm.Input(
                    id: "answer-preference", name: "preference", label: "Preference", type: "text", value: "",
                    hint: "\(preferences.joined(separator: ", ")); empty: none.", choices: preferences,
                    isRequired: false),
                ActionForm.Input(
                    id: "answer-percentage", name: "percentage", label: "Used, thousandths of a per cent",
                    type: "number", value: "", hint: "0 to 100000; not for subscriptions that renew.",
                    isRequired: false),
                ActionForm.Input(
                    id: "answer-delivery", name: "delivery", label: "Delivery", type: "text", value: "",
                    hint: "Empty: as reported.", choices: deliveries, isRequired: false),
            ],
            command:
                "storekeeper refunds answer \(shellWord(key.transactionId)) --environment \(key.environment.rawValue) "
                + "--preference GRANT_FULL --note REASON", offersPlan: true, request)
    }
}
