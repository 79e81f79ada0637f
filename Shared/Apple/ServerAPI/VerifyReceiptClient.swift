import AppStore
import AsyncHTTPClient
import HTTPLimits
import StrictJSON

/// Apple's old service for receipts of StoreKit 1, for those that cannot be proven by themselves.
///
/// Deprecated by Apple and the last resort: the answer is not signed, so only the ids in it count, and the App Store Server API
/// is asked about them.
///
/// <https://developer.apple.com/documentation/appstorereceipts/verifyreceipt>
public struct VerifyReceiptClient: Sendable {
    /// Why there is no answer.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// Apple's number; nil where Apple did not answer.
        public let status: Int64?
        /// Whether the same receipt may be answered later.
        public let isRetryable: Bool
        /// What happened.
        public let description: String
    }

    /// Where the receipts of an environment are verified.
    public enum Place: Sendable {
        /// `https://buy.itunes.apple.com/verifyReceipt`
        case production
        /// `https://sandbox.itunes.apple.com/verifyReceipt`
        case sandbox
    }

    /// Half a megabyte for a customer with some hundred renewals.
    private static let largestAnswer = 16 << 20

    private let addresses: [Place: String]
    private let sharedSecret: String?
    private let deadline: Duration

    /// - Parameters:
    ///   - baseURL: in the place of Apple's two hosts, for tests: `/production/verifyReceipt` and `/sandbox/verifyReceipt` are below.
    ///   - sharedSecret: of the account; Apple wants it for receipts with auto-renewable subscriptions.
    public init(baseURL: String? = nil, sharedSecret: String?, deadline: Duration = .seconds(10)) {
        addresses = [
            .production: baseURL.map { "\($0)/production/verifyReceipt" }
                ?? "https://buy.itunes.apple.com/verifyReceipt",
            .sandbox: baseURL.map { "\($0)/sandbox/verifyReceipt" } ?? "https://sandbox.itunes.apple.com/verifyReceipt",
        ]
        self.sharedSecret = sharedSecret
        self.deadline = deadline
    }

    /// Asks production first, and the sandbox where Apple says that the receipt is from there (21007), as Apple recommends.
    ///
    /// - Parameter receipt: base64.
    public func verify(_ receipt: String) async throws(Failure) -> VerifyReceiptAnswer {
        let (answer, status) = try await ask(receipt, .production)
        guard status == 21_007 else { return try read(answer, status) }
        let (other, otherStatus) = try await ask(receipt, .sandbox)
        return try read(other, otherStatus)
    }

    /// 21006: the subscription has expired; the receipt is genuine all the same.
    private func read(_ document: JSONDocument, _ status: Int64) throws(Failure) -> VerifyReceiptAnswer {
        guard status == 0 || status == 21_006 else {
            let isRetryable = [21_002, 21_005, 21_009].contains(status) || (21_100...21_199).contains(status)
            throw Failure(
                status: status, isRetryable: isRetryable && document.root["is-retryable"]?.bool ?? isRetryable,
                description: "Apple's verifyReceipt answered \(status): \(Self.meaning(of: status))")
        }
        do {
            return try VerifyReceiptAnswer(json: document.root)
        } catch {
            throw Failure(status: status, isRetryable: false, description: "Apple's verifyReceipt answered \(error)")
        }
    }

    private func ask(_ receipt: String, _ place: Place) async throws(Failure) -> (JSONDocument, Int64) {
        var body = JSONWriter(capacity: receipt.utf8.count + 128)
        body.beginObject()
        body.member("receipt-data", receipt)
        if let sharedSecret { body.member("password", sharedSecret) }
        body.member("exclude-old-transactions", false)
        body.endObject()
        var request = HTTPClientRequest(url: addresses[place] ?? "")
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.body = .bytes(body.bytes)
        let (message, deadline) = (request, self.deadline)
        do {
            return try await withTimeLimit(deadline) { try await Self.answer(to: message, within: deadline) }
        } catch let failure as Failure {
            throw failure
        } catch {
            // Its own words may quote what was sent, and that holds the secret.
            throw Failure(status: nil, isRetryable: true, description: "Apple's verifyReceipt did not answer")
        }
    }

    /// Follows no redirect: the shared secret goes to Apple alone.
    private static let client = HTTPClient(
        eventLoopGroup: HTTPClient.defaultEventLoopGroup,
        configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))

    private static func answer(
        to request: HTTPClientRequest, within deadline: Duration
    ) async throws -> (JSONDocument, Int64) {
        let response = try await client.execute(
            request, timeout: .nanoseconds(Int64(deadline / .nanoseconds(1))))
        let bytes = try await response.body.collect(upTo: largestAnswer)
        let document = try JSONDocument(Array(bytes.readableBytesView))
        guard response.status == .ok, let status = document.root["status"]?.int64 else {
            throw Failure(
                status: nil, isRetryable: true,
                description: "Apple's verifyReceipt answered HTTP \(response.status.code)")
        }
        return (document, status)
    }

    /// <https://developer.apple.com/documentation/appstorereceipts/status>
    private static func meaning(of status: Int64) -> String {
        switch status {
        case 21_002: "the receipt is malformed, or Apple's service has a problem"
        case 21_003: "the receipt is not Apple's"
        case 21_004: "the shared secret is not that of the account"
        case 21_005, 21_009, 21_100...21_199: "Apple's service has a problem"
        case 21_007, 21_008: "the receipt is of the other environment"
        case 21_010: "Apple does not find the customer's account"
        default: "not documented"
        }
    }
}
