import AppStore

/// One call as it is put on the wire, without the token.
struct APIRequest: Sendable {
    /// The methods that Apple's API has.
    enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case delete = "DELETE"
    }

    let endpoint: APIEndpoint
    let method: Method
    /// Path and query, encoded.
    let target: String
    /// JSON unless the type says otherwise; nil for none.
    let body: [UInt8]?
    /// The media type of the body.
    let contentType: String

    /// - Parameters:
    ///   - path: Its segments. Each is encoded, so that nothing in an id can lead to another endpoint.
    ///   - query: In the order given; a name may come several times.
    ///   - bytes: in place of a body.
    ///   - contentType: of the bytes.
    /// - Throws: `APIError.invalidRequest` where a segment is empty or means another place.
    init(
        _ endpoint: APIEndpoint, _ method: Method, _ path: [String], query: [(String, String)] = [],
        body: (any Payload)? = nil, bytes: [UInt8]? = nil, contentType: String = "application/json"
    ) throws(APIError) {
        var target = ""
        for segment in path {
            guard !segment.isEmpty, segment != ".", segment != "..", segment.utf8.count <= 512 else {
                throw APIError.invalidRequest("an id in a call of \(endpoint.rawValue) is empty, too long or no id")
            }
            target += "/" + Self.encoded(segment)
        }
        let pairs = query.map { "\(Self.encoded($0.0))=\(Self.encoded($0.1))" }
        if !pairs.isEmpty { target += "?" + pairs.joined(separator: "&") }
        self.endpoint = endpoint
        self.method = method
        self.target = target
        self.body = bytes ?? body?.json
        self.contentType = contentType
    }

    /// Everything but RFC 3986's unreserved characters as `%XX`.
    private static func encoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return encoded
    }
}
