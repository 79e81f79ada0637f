import StrictJSON

/// A verified notification read back: the envelope, and what had been signed inside it.
///
/// Reads `ProvenNotification.decoded`, in which each JWS stands as the object that it signs. It proves nothing: its bytes
/// must come from the verifier.
public struct DecodedNotification: Sendable, Hashable {
    /// The envelope; its members for a JWS are nil, because they have been decoded.
    public let envelope: ResponseBodyV2DecodedPayload
    /// From `data.signedTransactionInfo`.
    public let transaction: JWSTransactionDecodedPayload?
    /// From `data.signedRenewalInfo`.
    public let renewalInfo: JWSRenewalInfoDecodedPayload?
    /// From `appData.signedAppTransactionInfo`.
    public let appTransaction: AppTransaction?

    /// Reads the JSON of a verified notification.
    ///
    /// - Throws: `JSONFault` or `PayloadFault`, where Apple's JSON is not as documented.
    public init(decoded: [UInt8]) throws {
        try self.init(json: JSONDocument(decoded).root)
    }

    /// Reads the JSON of a verified notification that has been parsed already.
    public init(json: JSONValue) throws(PayloadFault) {
        envelope = try ResponseBodyV2DecodedPayload(json: json)
        transaction = try Self.nested(json, "data", "signedTransactionInfo")
        renewalInfo = try Self.nested(json, "data", "signedRenewalInfo")
        appTransaction = try Self.nested(json, "appData", "signedAppTransactionInfo")
    }

    private static func nested<Value: Payload>(
        _ json: JSONValue, _ subject: String, _ member: String
    ) throws(PayloadFault) -> Value? {
        guard let object = json[subject]?[member], object.kind == .object else { return nil }
        return try PayloadFields(json).read(subject, member)
    }
}
