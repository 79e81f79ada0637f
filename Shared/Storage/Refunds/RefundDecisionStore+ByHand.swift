import Contracts
import Postgres
import Refunds

import struct Foundation.Date

extension RefundDecisionStore {
    /// What became of an answer by hand.
    package enum HandResult: Sendable, Equatable {
        /// The body is stored; the scheduler sends it.
        case stored(RefundAnswer)
        /// There is a body already, or Apple has one.
        case alreadyAnswered
        /// No request of the transaction is open, or its time is over.
        case notOpen
        /// The account of the purchase has not consented, or the purchase has none.
        case noConsent
        /// Apple takes no answer about the purchase of a family member.
        case familyShared
        /// No refund of the transaction was ever requested, in these apps.
        case unknown
    }

    /// Decides in place of the policy.
    /// - Parameters:
    ///   - usage: what is told instead of the newest report; the report has what it leaves open.
    ///   - bundleIds: nil means all apps.
    ///   - isTrial: changes nothing.
    ///   - storing: further statements of the transaction that stores the answer.
    ///   - audit: the entry of the audit log for the app, written with the answer.
    package func answer(
        _ key: RefundKey, preference: RefundPreference?, usage: RefundSubject.UsageReport?, among bundleIds: [String]?,
        by name: String, at now: Date, isTrial: Bool = false,
        storing: @escaping @Sendable (RefundAnswer) -> [Command] = { _ in [] },
        audit: @escaping @Sendable (_ bundleId: String) -> OperatorAction
    ) async throws -> HandResult {
        try await repeating {
            try await connection.transaction { transaction in
                guard
                    try !transaction.execute(Self.lockWaiting, key.environment.rawValue, key.transactionId).isEmpty,
                    let request = try Self.locked(key, in: transaction)
                else { return .unknown }
                guard bundleIds?.contains(request.bundleId) ?? true else { return .unknown }
                guard request.progress.mayDecideByHand(at: now) else {
                    guard request.progress.current?.failure != .withdrawn else { return .noConsent }
                    let isAnswered = request.progress.isOpen && request.progress.current?.withheld == nil
                    return isAnswered && request.progress.current != nil ? .alreadyAnswered : .notOpen
                }
                let rows = try transaction.pipeline([
                    Command(RefundPolicyStore.newest, key.environment.rawValue, request.bundleId, Int64(1)),
                    RefundSubjects.command([key]),
                ])
                guard var subject = try RefundSubjects.subjects(rows[1]).first ?? nil else { return .notOpen }
                guard !subject.isFamilyShared else { return .familyShared }
                let terms = try rows[0].first.map { row in try RefundPolicyStore.Version(row) }
                    .flatMap { try? $0.policy }?.consent
                guard subject.account?.isConsenting(under: terms) == true else { return .noConsent }
                if let usage { subject.usage = usage.completed(by: subject.usage) }
                let answer = RefundAnswer(preference, about: subject)
                guard !isTrial else { return .stored(answer) }
                _ = try transaction.pipeline(
                    [
                        Self.inserted(Decided(answer, by: name), request, at: now), Self.planned(request, at: now),
                        OperatorActionStore.command(recording: [audit(request.bundleId)]),
                    ] + storing(answer))
                return .stored(answer)
            }
        }
    }
}
