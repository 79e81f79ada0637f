import AppStore
import StrictJSON

/// What one external purchase token led to.
///
/// <https://developer.apple.com/documentation/externalpurchaseserverapi/externalpurchasereport>
public struct ExternalPurchaseReport: Payload, Hashable {
    /// A UUID that the developer chooses; a corrected report keeps it.
    public var requestIdentifier: String?
    /// The token.
    public var externalPurchaseId: String?
    /// What the report says of the token.
    public var status: Status?
    /// What was bought, as JSON; with the status `LINE_ITEM` only.
    public var lineItems: RawJSON?

    /// What a report says of a token.
    ///
    /// <https://developer.apple.com/documentation/externalpurchaseserverapi/status>
    public struct Status: OpenEnumeration {
        /// Apple's spelling.
        public let rawValue: String

        /// Keeps any value.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Customers bought something by it.
        public static let lineItem = Status(rawValue: "LINE_ITEM")
        /// Nothing was bought by it.
        public static let noLineItem = Status(rawValue: "NO_LINE_ITEM")
        /// The developer does not know it.
        public static let unrecognizedToken = Status(rawValue: "UNRECOGNIZED_TOKEN")
        /// Another token of the same period has the purchases.
        public static let duplicateToken = Status(rawValue: "DUPLICATE_TOKEN")

        /// The documented values.
        public static let known: Set<Status> = [.lineItem, .noLineItem, .unrecognizedToken, .duplicateToken]
    }

    /// A report to send.
    public init(
        requestIdentifier: String? = nil, externalPurchaseId: String? = nil, status: Status? = nil,
        lineItems: RawJSON? = nil
    ) {
        self.requestIdentifier = requestIdentifier
        self.externalPurchaseId = externalPurchaseId
        self.status = status
        self.lineItems = lineItems
    }

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        requestIdentifier = try fields.read("requestIdentifier")
        externalPurchaseId = try fields.read("externalPurchaseId")
        status = try fields.read("status")
        lineItems = try fields.read("lineItems")
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("requestIdentifier", requestIdentifier)
        writer.field("externalPurchaseId", externalPurchaseId)
        writer.field("status", status)
        writer.field("lineItems", lineItems)
    }
}

/// Apple has a report.
///
/// <https://developer.apple.com/documentation/externalpurchaseserverapi/sendreportsuccessresponse>
public struct ExternalPurchaseReportReceipt: Payload, Hashable {
    /// That of the report.
    public var requestIdentifier: String?

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        requestIdentifier = try PayloadFields(json).read("requestIdentifier")
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) { writer.field("requestIdentifier", requestIdentifier) }
}
