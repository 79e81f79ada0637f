import AppStore
import Storage

/// More days for one subscription, by Apple.
///
/// [Extend a Subscription Renewal Date](https://developer.apple.com/documentation/appstoreserverapi/extend-a-subscription-renewal-date)
package struct RenewalExtension: Sendable {
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

    private let originalTransactionId: String
    private let request: ExtendRenewalDateRequest
    /// The subject in the audit log.
    package let subject: String

    /// - Parameters:
    ///   - days: 1 to 90.
    ///   - name: Apple's `requestIdentifier`.
    package init(of originalTransactionId: String, by days: Int64, for reason: Reason, name: String) {
        self.originalTransactionId = originalTransactionId
        request = ExtendRenewalDateRequest(
            extendByDays: days, extendReasonCode: reason.code, requestIdentifier: name)
        subject = "purchase \(originalTransactionId) by \(days) days, request \(name)"
    }

    /// Asks Apple.
    /// - Parameter record: writes an action to the audit log: `extend.request` before Apple is asked, because what Apple has done
    ///   cannot be undone when the audit log turns out to be unavailable, and `extend` afterwards.
    /// - Returns: nil where Apple did not extend the subscription and gave no reason.
    /// - Throws: `APIError`, or the error of `record`.
    package func request(
        from client: AppStoreServerAPI, recording record: (_ action: String) async throws -> Void
    ) async throws -> ExtendRenewalDateResponse? {
        try await record("extend.request")
        let answer = try await client.extendRenewalDate(of: originalTransactionId, request)
        guard answer.success == true else { return nil }
        try await record("extend")
        return answer
    }
}
