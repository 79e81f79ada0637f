import Contracts
import Postgres
import Refunds
import Storage

/// Answers a refund request by hand, in place of the policy, until the body of an answer is stored.
package struct AnswerRefund: Sendable {
    package static let name = "refunds answer"

    package let key: RefundKey
    package let preference: RefundPreference?
    /// What is told instead of the newest report; nil: the report.
    package let usage: RefundSubject.UsageReport?
    /// Nil means all apps.
    package let bundleIds: [String]?

    /// - Throws: `OperationError` where the percentage is out of range.
    package init(
        _ key: RefundKey, preference: RefundPreference?, usage: RefundSubject.UsageReport?,
        among bundleIds: [String]? = nil
    ) throws(OperationError) {
        if let percentage = usage?.percentage, !(0...100_000).contains(percentage) {
            throw OperationError(
                "the percentage \(percentage) is out of range: give 0 to 100000, thousandths of a per cent",
                .invalid("consumptionPercentage"))
        }
        self.key = key
        self.preference = preference
        self.usage = usage
        self.bundleIds = bundleIds
    }

    /// What Apple would be told.
    /// - Throws: `Refusal` where the request cannot be answered.
    package func plan(on connection: PostgresConnection, by performer: Performer) async throws -> OperationPlan {
        let answer = try await attempt(on: connection, by: performer, isTrial: true) { _ in [] }
        return OperationPlan(Self.name, on: subject, about: nil, Self.effects(answer))
    }

    /// - Parameter storing: further statements of the transaction that stores the answer.
    /// - Returns: what Apple will be told; the scheduler sends it.
    /// - Throws: `Refusal` where the request cannot be answered.
    @discardableResult
    package func perform(
        on connection: PostgresConnection, by performer: Performer,
        storing: @escaping @Sendable (RefundAnswer) -> [Command] = { _ in [] }
    ) async throws -> RefundAnswer {
        try await attempt(on: connection, by: performer, isTrial: false, storing: storing)
    }

    package static func effects(_ answer: RefundAnswer) -> [String] {
        [
            "Apple would be told: \(String(decoding: answer.body, as: UTF8.self)) (version \(answer.apiVersion) of its endpoint)."
        ] + answer.adjustments.map { "Changed so that Apple accepts it: \($0)." }
    }

    private var subject: String { "\(key.environment.rawValue) transaction \(key.transactionId)" }

    private func attempt(
        on connection: PostgresConnection, by performer: Performer, isTrial: Bool,
        storing: @escaping @Sendable (RefundAnswer) -> [Command]
    ) async throws -> RefundAnswer {
        let (subject, environment) = (subject, key.environment)
        let result = try await RefundDecisionStore(connection).answer(
            key, preference: preference, usage: usage, among: bundleIds, by: performer.name, at: performer.now,
            isTrial: isTrial, storing: storing
        ) { bundleId in
            performer.action(Self.name, on: subject, about: OperatorAction.About(environment, bundleId))
        }
        guard case .stored(let answer) = result else { throw Refusal(result, key) }
        return answer
    }

    /// Why a request cannot be answered.
    package struct Refusal: Error, CustomStringConvertible, Sendable {
        package var result: RefundDecisionStore.HandResult
        package var description: String

        init(_ result: RefundDecisionStore.HandResult, _ key: RefundKey) {
            self.result = result
            let transaction = "transaction \(key.transactionId) in \(key.environment.rawValue)"
            description =
                switch result {
                case .alreadyAnswered:
                    "an answer about \(transaction) is decided already; Apple gets one answer to a request"
                case .notOpen:
                    "no refund request about \(transaction) is open: Apple decided, or the 12 hours after its request are over"
                case .noConsent:
                    "the account of \(transaction) has not consented to telling Apple about its use; record the consent with "
                        + "PUT /v1/customers/{customerId}/consents/consumption once the customer has given it"
                case .familyShared:
                    "\(transaction) is the purchase of another member of the family; Apple takes no answer about it"
                case .unknown, .stored:
                    "no refund of \(transaction) was requested; check the id and the environment"
                }
        }
    }
}
