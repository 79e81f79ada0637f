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
    ///
    /// - Throws: `PayloadFault` where a field has another kind of value than Apple documents.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        errorCode = try fields.read("errorCode")
        errorMessage = try fields.read("errorMessage")
    }

    /// Writes Apple's JSON; what is nil is left out.
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("errorCode", errorCode)
        writer.field("errorMessage", errorMessage)
        writer.endObject()
    }
}
