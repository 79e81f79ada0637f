import AppStore
import StrictJSON

/// How far a purchase was used, for Apple to decide on a refund.
///
/// To be sent within twelve hours after the notification that asks for it.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/consumptionrequest>
public struct ConsumptionRequest: Payload, Hashable {
    /// That the customer agreed to our telling Apple. Without that, send nothing: Apple takes no false.
    public var customerConsented: Bool?
    /// Whether there was something to try before.
    public var sampleContentProvided: Bool?
    /// Whether the customer got it.
    public var deliveryStatus: DeliveryStatus?
    /// How much of it was used, in thousandths of a percent: 100000 is everything.
    public var consumptionPercentage: Int64?
    /// What we should like.
    public var refundPreference: RefundPreference?

    /// The first three are required by Apple.
    public init(
        customerConsented: Bool? = nil, sampleContentProvided: Bool? = nil, deliveryStatus: DeliveryStatus? = nil,
        consumptionPercentage: Int64? = nil, refundPreference: RefundPreference? = nil
    ) {
        self.customerConsented = customerConsented
        self.sampleContentProvided = sampleContentProvided
        self.deliveryStatus = deliveryStatus
        self.consumptionPercentage = consumptionPercentage
        self.refundPreference = refundPreference
    }

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        customerConsented = try fields.read("customerConsented")
        sampleContentProvided = try fields.read("sampleContentProvided")
        deliveryStatus = try fields.read("deliveryStatus")
        consumptionPercentage = try fields.read("consumptionPercentage")
        refundPreference = try fields.read("refundPreference")
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("customerConsented", customerConsented)
        writer.field("sampleContentProvided", sampleContentProvided)
        writer.field("deliveryStatus", deliveryStatus)
        writer.field("consumptionPercentage", consumptionPercentage)
        writer.field("refundPreference", refundPreference)
    }
}
