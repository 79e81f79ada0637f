/// A validated JSON text.
///
/// Reading validates everything and copies nothing: the result is a tape of spans over the bytes. Stricter than
/// RFC 8259 where the RFC leaves room for two readers to disagree: no byte order mark, no duplicate keys (compared
/// after unescaping), no NUL, no lone surrogates, bounded depth and length. Foundation's decoder was turned down: it
/// accepts duplicate keys, guesses encodings, and costs about twenty times as much on strings of kilobytes.
public struct JSONDocument: Sendable {
    private let storage: JSONStorage

    /// Reads a whole document; one value with white space around it.
    ///
    /// - Throws: `JSONFault` with the place of the first thing that is wrong.
    public init(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONFault) {
        guard bytes.count <= limits.bytes else { throw .tooLarge(limit: limits.bytes) }
        let tape = try bytes.withUnsafeBufferPointer { buffer throws(JSONFault) in
            var parser = JSONParser(buffer, depth: limits.depth)
            try parser.readDocument()
            return parser.tape
        }
        storage = JSONStorage(bytes: bytes, tape: tape)
    }

    /// The value that the document is.
    public var root: JSONValue { JSONValue(storage: storage, index: 0) }

    /// The bytes as they were given.
    public var bytes: [UInt8] { storage.bytes }
}
