import StrictJSON

import struct Foundation.Date

/// Apple's question which message a customer who is about to cancel is to see, as it is signed for the realtime URL.
///
/// <https://developer.apple.com/documentation/retentionmessaging/decodedrealtimerequestbody>
public struct RealtimeRequest: Payload, Hashable {
    /// The customer's subscription.
    public var originalTransactionId: String?
    /// Apple's number of the app; it names no bundle id.
    public var appAppleId: Int64?
    /// The subscription's product.
    public var productId: String?
    /// The language of the device, such as `en-US`.
    public var userLocale: String?
    /// A UUID for each request.
    public var requestIdentifier: String?
    /// Sandbox or production.
    public var environment: AppStoreEnvironment?
    /// When it was signed.
    public var signedDate: Date?

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        originalTransactionId = try fields.read("originalTransactionId")
        appAppleId = try fields.read("appAppleId")
        productId = try fields.read("productId")
        userLocale = try fields.read("userLocale")
        requestIdentifier = try fields.read("requestIdentifier")
        environment = try fields.read("environment")
        signedDate = try fields.read("signedDate")
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("originalTransactionId", originalTransactionId)
        writer.field("appAppleId", appAppleId)
        writer.field("productId", productId)
        writer.field("userLocale", userLocale)
        writer.field("requestIdentifier", requestIdentifier)
        writer.field("environment", environment)
        writer.field("signedDate", signedDate)
    }
}
