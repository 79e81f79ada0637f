import StrictJSON

/// One of Apple's signed types: read from JSON and written as JSON.
///
/// Codable was turned down: it reads through Foundation, whose decoder accepts what the verifier must refuse, and takes
/// longer than all three signature checks of a notification.
public protocol Payload: Sendable {
    /// Reads the members that the type knows.
    init(json: JSONValue) throws(PayloadFault)
    /// Writes an object with the members that are not nil.
    func write(to writer: inout JSONWriter)
}

extension Payload {
    /// The JSON of the payload by itself.
    public var json: [UInt8] {
        var writer = JSONWriter(capacity: 2048)
        write(to: &writer)
        return writer.bytes
    }
}
