import Hummingbird
import StrictJSON

import struct Foundation.CharacterSet

/// One page of a list: `limit`, `cursor`, and the link to the next.
struct ListPage: Sendable {
    static let standardLimit = 50

    let limit: Int
    /// Behind which it begins; nil at the beginning.
    let position: String?
    private let cursor: Cursor
    private let list: String
    private let request: APIRequest

    /// - Parameter list: what the cursor belongs to.
    init(_ request: APIRequest, _ cursor: Cursor, _ list: String) throws {
        self.request = request
        self.cursor = cursor
        let list = "\(request.key.environment.rawValue) \(list)"
        self.list = list
        limit = request.number("limit").map { Int($0) } ?? Self.standardLimit
        position = try request.query["cursor"].map { try cursor.position($0, of: list) }
    }

    /// The position as the statement takes it; nil at the beginning.
    /// - Parameter read: nil for a text that is no such position.
    func position<Position>(as read: (String) -> Position?) throws(Problem) -> Position? {
        guard let position else { return nil }
        guard let read = read(position) else {
            throw Problem(.invalidCursor, "The cursor belongs to another list; begin without one.")
        }
        return read
    }

    /// The position as a number; 0 at the beginning.
    func number() throws(Problem) -> Int64 { try position(as: { Int64($0) }) ?? 0 }

    /// - Parameters:
    ///   - rows: one more than ``limit`` where there are more.
    ///   - further: where the next page begins although there are not more rows; nil where this is the last page.
    ///   - position: of a row, as the statement takes it.
    func response<Row>(
        _ rows: [Row], further: String? = nil, position: (Row) -> String, write: (Row, inout JSONWriter) throws -> Void
    ) throws -> APIResponse {
        let page = rows.prefix(limit)
        let last = rows.count > limit ? page.last.map(position) : further
        let next = try last.map { try cursor.text($0, of: list) }
        var response = try APIResponse { json in
            try json.objects("data", of: page) { json, row in
                try write(row, &json)
            }
            json.member("nextCursor", next)
        }
        if let next { response.headers[.link] = "<\(target(next))>; rel=\"next\"" }
        return response
    }

    /// Path and query of this request with another cursor.
    private func target(_ next: String) -> String {
        var path = request.operation.path
        for (name, value) in request.path { path = path.replacing("{\(name)}", with: Self.encoded(value)) }
        let query = request.query.merging(["cursor": next]) { $1 }.sorted { $0.key < $1.key }
        return path + "?" + query.map { "\($0.key)=\(Self.encoded($0.value))" }.joined(separator: "&")
    }

    private static func encoded(_ text: String) -> String {
        let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }
}
