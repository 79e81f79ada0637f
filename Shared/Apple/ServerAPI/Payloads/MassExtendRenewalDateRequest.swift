import AppStore
import StrictJSON

/// Gives all active subscribers of a product more days.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/massextendrenewaldaterequest>
public struct MassExtendRenewalDateRequest: Payload, Hashable {
    /// 1 to 90 days.
    public var extendByDays: Int64?
    /// Why.
    public var extendReasonCode: ExtendReasonCode?
    /// Our name of this request, with which its status is asked for: keep it before you ask.
    public var requestIdentifier: String?
    /// Where, as ISO 3166-1 alpha-3; nil means everywhere.
    public var storefrontCountryCodes: [String]?
    /// Product identifier, as in App Store Connect.
    public var productId: String?

    /// All but the countries are required by Apple.
    public init(
        extendByDays: Int64? = nil, extendReasonCode: ExtendReasonCode? = nil, requestIdentifier: String? = nil,
        storefrontCountryCodes: [String]? = nil, productId: String? = nil
    ) {
        self.extendByDays = extendByDays
        self.extendReasonCode = extendReasonCode
        self.requestIdentifier = requestIdentifier
        self.storefrontCountryCodes = storefrontCountryCodes
        self.productId = productId
    }

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        extendByDays = try fields.read("extendByDays")
        extendReasonCode = try fields.read("extendReasonCode")
        requestIdentifier = try fields.read("requestIdentifier")
        storefrontCountryCodes = try fields.read("storefrontCountryCodes")
        productId = try fields.read("productId")
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("extendByDays", extendByDays)
        writer.field("extendReasonCode", extendReasonCode)
        writer.field("requestIdentifier", requestIdentifier)
        writer.field("storefrontCountryCodes", storefrontCountryCodes)
        writer.field("productId", productId)
    }
}
