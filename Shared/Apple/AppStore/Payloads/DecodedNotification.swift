import StrictJSON

/// A verified notification read back: the envelope, and what had been signed inside it. Or a part that stood alone, under
/// the name that Apple gives it within a notification; then nothing is set in the envelope.
///
/// Reads `ProvenNotification.decoded`, in which each JWS stands as the object that it signs. It proves nothing: its bytes
/// must come from the verifier.
///
/// <https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2decodedpayload>
public struct DecodedNotification: Sendable, Hashable {
    /// The envelope; its members for a JWS are nil, because they have been decoded.
    public let envelope: ResponseBodyV2DecodedPayload
    /// From `data.signedTransactionInfo`, or alone.
    public let transaction: JWSTransactionDecodedPayload?
    /// From `data.signedRenewalInfo`, or alone.
    public let renewalInfo: JWSRenewalInfoDecodedPayload?
    /// Beside a part that stood alone: what Apple's API answered with it.
    public let unsignedStatus: UnsignedStatus?
    /// From `appData.signedAppTransactionInfo`, or alone.
    public let appTransaction: AppTransaction?

    /// Reads the JSON of a verified notification.
    ///
    /// - Throws: `JSONFault` or `PayloadFault`, where Apple's JSON is not as documented.
    public init(decoded: [UInt8]) throws {
        try self.init(json: JSONDocument(decoded, limits: Self.limits).root)
    }

    /// What the verifier allows each JWS, deeper by the two objects that one may stand in.
    private static let limits = JSONLimits(depth: JSONLimits().depth + 2)

    /// Reads the JSON of a verified notification that has been parsed already.
    public init(json: JSONValue) throws(PayloadFault) {
        envelope = try ResponseBodyV2DecodedPayload(json: json)
        transaction = try Self.part(json, "signedTransactionInfo")
        renewalInfo = try Self.part(json, "signedRenewalInfo")
        unsignedStatus = try PayloadFields(json).read("unsignedStatus")
        appTransaction = try Self.part(json, "signedAppTransactionInfo", in: "appData")
    }

    /// What this build cannot make use of in what a purchase is told by, named by its place.
    public var oddities: [PayloadOddity] {
        [
            ("data", envelope.data?.oddities ?? []), ("signedTransactionInfo", transaction?.oddities ?? []),
            ("signedRenewalInfo", renewalInfo?.oddities ?? []),
        ].flatMap { place, oddities in
            oddities.map { PayloadOddity(field: "\(place).\($0.field)", kind: $0.kind) }
        }
    }

    /// The JSON of a part that stood alone, as ``init(json:)`` reads it.
    public static func decoded(transaction: [UInt8], status: UnsignedStatus? = nil) -> [UInt8] {
        alone("signedTransactionInfo", transaction, status)
    }

    /// The JSON of a part that stood alone, as ``init(json:)`` reads it.
    public static func decoded(renewalInfo: [UInt8], status: UnsignedStatus? = nil) -> [UInt8] {
        alone("signedRenewalInfo", renewalInfo, status)
    }

    /// The JSON of a part that stood alone, as ``init(json:)`` reads it.
    public static func decoded(appTransaction: [UInt8]) -> [UInt8] {
        alone("signedAppTransactionInfo", appTransaction, nil)
    }

    private static func alone(_ name: String, _ part: [UInt8], _ status: UnsignedStatus?) -> [UInt8] {
        let status = status.map { Array(",\"unsignedStatus\":".utf8) + $0.json } ?? []
        return Array("{\"\(name)\":".utf8) + part + status + [UInt8(ascii: "}")]
    }

    private static func part<Value: Payload>(
        _ json: JSONValue, _ name: String, in subject: String = "data"
    ) throws(PayloadFault) -> Value? {
        if let nested: Value = try nested(json, subject, name) { return nested }
        return json[name]?.kind == .object ? try PayloadFields(json).read(name) : nil
    }

    private static func nested<Value: Payload>(
        _ json: JSONValue, _ subject: String, _ member: String
    ) throws(PayloadFault) -> Value? {
        guard let object = json[subject]?[member], object.kind == .object else { return nil }
        return try PayloadFields(json).read(subject, member)
    }
}
