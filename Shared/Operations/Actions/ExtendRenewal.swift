import AppStore
import Contracts
import Storage

/// More days for one subscription, by Apple.
///
/// [Extend a Subscription Renewal Date](https://developer.apple.com/documentation/appstoreserverapi/extend-a-subscription-renewal-date)
package struct ExtendRenewal: Sendable {
    package static let name = "extend"
    package static let days: ClosedRange<Int64> = 1...90

    /// Names for Apple's reason codes.
    package enum Reason: String, Sendable, CaseIterable {
        case undeclared
        case satisfaction
        case other
        case outage

        package var code: ExtendReasonCode {
            switch self {
            case .undeclared: .undeclared
            case .satisfaction: .customerSatisfaction
            case .other: .other
            case .outage: .serviceIssueOrOutage
            }
        }
    }

    package let plan: OperationPlan
    private let originalTransactionId: String
    private let request: ExtendRenewalDateRequest

    /// - Parameter requestIdentifier: Apple's; a request that is repeated with it is the same one.
    /// - Throws: `OperationError` where the days are outside of the limits.
    package init(
        _ originalTransactionId: String, of bundleId: String, in environment: StoreEnvironment, by days: Int64,
        for reason: Reason, requestIdentifier: String
    ) throws(OperationError) {
        try Self.check(days)
        self.originalTransactionId = originalTransactionId
        request = ExtendRenewalDateRequest(
            extendByDays: days, extendReasonCode: reason.code, requestIdentifier: requestIdentifier)
        plan = OperationPlan(
            Self.name,
            on: "purchase \(originalTransactionId) by \(Int(days).counted("day")), request \(requestIdentifier)",
            about: OperatorAction.About(environment, bundleId),
            [
                "Apple would be asked to move the renewal date of purchase \(originalTransactionId) by \(Int(days).counted("day"))."
            ]
        )
    }

    package static func check(_ days: Int64) throws(OperationError) {
        try Self.days.check(days)
    }

    /// Asks Apple.
    /// - Parameter record: writes a row of the audit log: `requested` before Apple is asked, because what Apple has done cannot be
    ///   undone when the audit log turns out to be unavailable; `done` or `failed` afterwards. Where Apple did not say which, the
    ///   first row stands alone.
    /// - Throws: `APIError`; `OperationError` where Apple extended nothing and gave no reason; the error of `record`.
    package func perform(
        at client: AppStoreServerAPI, by performer: Performer, recording record: (OperatorAction) async throws -> Void
    ) async throws -> ExtendRenewalDateResponse {
        try await record(plan.action(of: performer, outcome: .requested))
        let answer: ExtendRenewalDateResponse
        do {
            answer = try await client.extendRenewalDate(of: originalTransactionId, request)
        } catch APIError.rejected(let rejection) where !rejection.isRetryable {
            try await record(plan.action(of: performer, outcome: .failed))
            throw APIError.rejected(rejection)
        }
        guard answer.success == true else {
            try await record(plan.action(of: performer, outcome: .failed))
            throw OperationError("Apple did not extend purchase \(originalTransactionId.escaped) and gave no reason")
        }
        try await record(plan.action(of: performer))
        return answer
    }
}
