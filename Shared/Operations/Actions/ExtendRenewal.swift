import Contracts
import ServerAPI
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

    /// - Parameter requestIdentifier: Apple's. Apple asks for the same one where a request is sent again, and does not say that it
    ///   then extends once.
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
    /// - Parameters:
    ///   - record: writes a row of the audit log: `requested` before Apple is asked, because what Apple has done cannot be undone
    ///     when the audit log turns out to be unavailable; `done` or `failed` afterwards. Where Apple did not say which, the first
    ///     row stands alone.
    ///   - unrecorded: is given the error of `record` where Apple has answered. A caller that throws it hides Apple's answer, and
    ///     the person or program behind it asks again.
    /// - Throws: `APIError`; `OperationError` where Apple extended nothing and gave no reason; the error of `record` before Apple
    ///   was asked.
    package func perform(
        at client: AppStoreServerAPI, by performer: Performer, recording record: (OperatorAction) async throws -> Void,
        unrecorded: (any Error) throws -> Void
    ) async throws -> ExtendRenewalDateResponse {
        try await record(plan.action(of: performer, outcome: .requested))
        let answer: Result<ExtendRenewalDateResponse, any Error>
        do {
            let given = try await client.extendRenewalDate(of: originalTransactionId, request)
            guard given.success == true else {
                throw OperationError(
                    "Apple did not extend purchase \(originalTransactionId.escaped) and gave no reason")
            }
            answer = .success(given)
        } catch {
            answer = .failure(error)
        }
        let outcome: OperatorAction.Outcome? =
            switch answer {
            case .success: .done
            case .failure(let error): Self.isUndone(error) ? .failed : nil
            }
        if let outcome {
            do { try await record(plan.action(of: performer, outcome: outcome)) } catch { try unrecorded(error) }
        }
        return try answer.get()
    }

    /// Whether Apple has certainly extended nothing.
    private static func isUndone(_ error: any Error) -> Bool {
        switch error as? APIError {
        // An extension that was sent and not answered ends as unsettled.
        case .rejected, .unauthorized, .rateLimited, .unreachable, .invalidRequest: true
        case .unsettled, .unreadable: false
        case nil: error is OperationError
        }
    }
}
