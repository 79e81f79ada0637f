import AppStore
import StrictJSON

/// What Apple answers when it does not do what was asked. A 401 has none.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/error-codes>
public struct APIErrorBody: Payload, Hashable {
    /// What is wrong, as a number.
    public var errorCode: APIErrorCode?
    /// What is wrong, in Apple's words.
    public var errorMessage: String?

    /// As the simulator answers.
    public init(errorCode: APIErrorCode? = nil, errorMessage: String? = nil) {
        self.errorCode = errorCode
        self.errorMessage = errorMessage
    }

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        errorCode = try fields.read("errorCode")
        errorMessage = try fields.read("errorMessage")
        // A report about an external purchase has errors by field; the first have the words.
        // https://developer.apple.com/documentation/externalpurchaseserverapi/sendreporterrorresponse
        let errors = json["errors"]?.elements.prefix(3) ?? []
        guard errorMessage == nil, let first = errors.first else { return }
        errorCode = first["errorCode"]?.int64.map { APIErrorCode(rawValue: $0) }
        errorMessage = errors.map { error in
            let place = [error["lineItemId"]?.string, error["fieldName"]?.string].compactMap(\.self)
            return "\(place.joined(separator: " ")): \(error["errorMessage"]?.string ?? "no words")"
        }.joined(separator: "; ")
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("errorCode", errorCode)
        writer.field("errorMessage", errorMessage)
    }
}
