import AppStore
import Foundation
import ServerAPI
import StrictJSON

/// A request to the API, read as far as HTTP goes.
struct APIRequest: Sendable {
    var method: String
    /// The components of the path, decoded.
    var path: [String]
    /// In their order; a name may occur several times.
    var query: [(name: String, value: String)] = []
    var authorization: String?
    /// The customer of a request to Adapty.
    var customerUserId: String?
    var body: [UInt8] = []

    init(method: String, target: String, authorization: String? = nil, body: [UInt8] = []) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        self.method = method
        path = parts[0].split(separator: "/").map { Self.decoded($0) }
        if parts.count > 1 {
            query = parts[1].split(separator: "&").map { pair in
                let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return (Self.decoded(sides[0]), sides.count > 1 ? Self.decoded(sides[1]) : "")
            }
        }
        self.authorization = authorization
        self.body = body
    }

    private static func decoded(_ text: Substring) -> String { text.removingPercentEncoding ?? String(text) }

    /// The first parameter of this name.
    func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }

    /// All parameters of this name.
    func parameters(_ name: String) -> [String] { query.filter { $0.name == name }.map(\.value) }
}

/// An authorized request to an existing endpoint.
struct APICall: Sendable {
    var app: App
    var endpoint: Endpoint
    /// The variable components of the path.
    var arguments: [String]
    var request: APIRequest
    var now: Date

    /// The one variable component of the path.
    var id: String { arguments.first ?? "" }

    /// The body as a JSON object.
    func json() throws -> JSONValue {
        guard let root = try? JSONDocument(request.body).root, root.kind == .object else {
            throw APIFault(4_000_000)
        }
        return root
    }

    /// The path's transaction id.
    func transactionId() throws -> String {
        guard Self.isTransactionId(id) else { throw APIFault(4_000_006) }
        return id
    }

    /// Apple's ids are numbers, and clients must not depend on their length.
    static func isTransactionId(_ text: String) -> Bool {
        (1...40).contains(text.utf8.count)
            && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}

/// An answer of the API.
struct APIAnswer: Sendable, Equatable {
    var status: Int
    /// JSON, or nothing.
    var body: [UInt8] = []
    /// The value of Retry-After, milliseconds since 1970.
    var retryAfter: Int64?

    /// Without a body, as Apple does.
    static let unauthorized = APIAnswer(status: 401)
    static let notFound = APIAnswer(status: 404)

    init(status: Int, body: [UInt8] = []) {
        self.status = status
        self.body = body
    }

    /// - Parameter write: writes the members of an object.
    init(status: Int = 200, _ write: (inout JSONWriter) throws -> Void) rethrows {
        self.status = status
        var json = JSONWriter(capacity: 4096)
        json.beginObject()
        try write(&json)
        json.endObject()
        body = json.bytes
    }

    init(_ fault: APIFault) {
        self.init(status: fault.status) {
            $0.member("errorCode", fault.code)
            $0.member("errorMessage", fault.message)
        }
    }

    static func tooManyRequests(until date: Date) -> APIAnswer {
        var answer = APIAnswer(APIFault(4_290_000))
        // Rounded up, so that a client that returns at that very millisecond is served.
        answer.retryAfter = Int64((date.timeIntervalSince1970 * 1000).rounded(.up))
        return answer
    }
}

extension JSONWriter {
    /// A JWS, which needs no escapes.
    mutating func member(_ key: String, jws: [UInt8]) { member(key, raw: Self.quoted(jws)) }

    mutating func element(jws: [UInt8]) { element(raw: Self.quoted(jws)) }

    private static func quoted(_ jws: [UInt8]) -> [UInt8] {
        [UInt8(ascii: "\"")] + jws + [UInt8(ascii: "\"")]
    }
}
