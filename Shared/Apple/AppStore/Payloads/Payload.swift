import StrictJSON

/// One of Apple's signed types: read from JSON and written as JSON.
///
/// Codable was turned down: it reads through Foundation, whose decoder accepts what the verifier must refuse, and takes
/// longer than all three signature checks of a notification.
public protocol Payload: Sendable {
    /// Reads the members that the type knows.
    ///
    /// - Throws: `PayloadFault` where a field has another kind of value than Apple documents.
    init(json: JSONValue) throws(PayloadFault)
    /// Writes the members that are not nil.
    func writeMembers(to writer: inout JSONWriter)
}

extension Payload {
    /// Writes an object.
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writeMembers(to: &writer)
        writer.endObject()
    }

    /// The JSON of the payload by itself.
    public var json: [UInt8] {
        var writer = JSONWriter(capacity: 2048)
        write(to: &writer)
        return writer.bytes
    }
}
