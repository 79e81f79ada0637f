import AppStore
import StrictJSON

/// Changes of purchases by Advanced Commerce, with the hosts and tokens of this API.
///
/// <https://developer.apple.com/documentation/advancedcommerceapi>
extension AppStoreServerAPI {
    /// What can be asked.
    public enum AdvancedCommerceOperation: String, Sendable, Hashable, CaseIterable {
        /// Switches auto-renew off.
        ///
        /// <https://developer.apple.com/documentation/advancedcommerceapi/cancel-a-subscription>
        case cancel
        /// Ends a subscription at once, with a refund.
        ///
        /// <https://developer.apple.com/documentation/advancedcommerceapi/revoke-subscription>
        case revoke
        /// Changes prices from the next renewal on.
        ///
        /// <https://developer.apple.com/documentation/advancedcommerceapi/change-subscription-price>
        case changePrice
        /// Changes names, descriptions and SKUs.
        ///
        /// <https://developer.apple.com/documentation/advancedcommerceapi/change-subscription-metadata>
        case changeMetadata
        /// Makes a subscription of In-App Purchase one of Advanced Commerce.
        ///
        /// <https://developer.apple.com/documentation/advancedcommerceapi/migrate-subscription-to-advanced-commerce-api>
        case migrate
        /// Asks Apple to refund items of a transaction.
        ///
        /// <https://developer.apple.com/documentation/advancedcommerceapi/request-transaction-refund>
        case requestRefund

        /// Its kind of call.
        var endpoint: APIEndpoint {
            switch self {
            case .cancel: .commerceCancellation
            case .revoke: .commerceRevocation
            case .changePrice: .commercePriceChange
            case .changeMetadata: .commerceMetadataChange
            case .migrate: .commerceMigration
            case .requestRefund: .commerceRefund
            }
        }

        fileprivate var path: [String] {
            ["advancedCommerce", "v1", self == .requestRefund ? "transaction" : "subscription", rawValue]
        }
    }

    /// What Apple signed afterwards, each verified.
    public struct AdvancedCommerceOutcome: Sendable {
        /// The newest transaction.
        public let transaction: SignedItem<JWSTransactionDecodedPayload>?
        /// The renewal information; nil of a one-time purchase.
        public let renewalInfo: SignedItem<JWSRenewalInfoDecodedPayload>?
    }

    /// Asks Apple for a change: 5 a second of those that end or refund, 50 of the others.
    ///
    /// - Parameters:
    ///   - transactionId: any of the subscription, or the one to refund.
    ///   - json: Apple's request of the operation, with `requestInfo.requestReferenceId`.
    /// - Throws: `APIError`; `.unsettled` where it is not known whether Apple did it.
    ///
    /// <https://developer.apple.com/documentation/advancedcommerceapi>
    public func advancedCommerce(
        _ operation: AdvancedCommerceOperation, _ transactionId: String, json: [UInt8]
    ) async throws -> AdvancedCommerceOutcome {
        let answer: AdvancedCommerceAnswer = try await answer(
            APIRequest(operation.endpoint, .post, operation.path + [transactionId], bytes: json))
        let transaction = answer.signedTransactionInfo.map { prover.transaction($0) }
        return AdvancedCommerceOutcome(
            transaction: transaction,
            renewalInfo: answer.signedRenewalInfo.map { prover.renewalInfo($0, of: transaction) })
    }
}

/// Apple's answer to all operations.
///
/// <https://developer.apple.com/documentation/advancedcommerceapi/subscriptioncancelresponse>
struct AdvancedCommerceAnswer: Payload {
    var signedTransactionInfo: [UInt8]?
    var signedRenewalInfo: [UInt8]?

    init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        signedTransactionInfo = try fields.read("signedTransactionInfo")
        signedRenewalInfo = try fields.read("signedRenewalInfo")
    }

    func writeMembers(to writer: inout JSONWriter) {
        writer.field("signedTransactionInfo", signedTransactionInfo)
        writer.field("signedRenewalInfo", signedRenewalInfo)
    }
}
