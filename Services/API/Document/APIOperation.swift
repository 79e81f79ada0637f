import Storage

/// One operation of the document.
struct APIOperation: Sendable {
    struct Parameter: Sendable {
        var name: String
        var isRequired: Bool
        var schema: Schema
    }

    /// What one status of the answer looks like.
    struct Answer: Sendable {
        /// By media type; nil where the body is not described by a schema.
        var content: [String: Schema?]
    }

    /// Names the handler, and the operation in metrics.
    var id: String
    /// Upper case.
    var method: String
    /// With `{name}` for parameters.
    var path: String
    /// What a key needs; nil where no key is.
    var scope: APIScope?
    var pathParameters: [Parameter] = []
    var queryParameters: [Parameter] = []
    /// Lower-case names of headers it reads.
    var headers: Set<String> = []
    /// Of the JSON body; nil where there is none.
    var body: Schema?
    /// Largest body, in bytes.
    var bodyLimit = 0
    /// By status.
    var answers: [Int: Answer] = [:]

    /// All schemas of requests and answers.
    var schemas: [Schema] {
        var schemas = (pathParameters + queryParameters).map(\.schema)
        if let body { schemas.append(body) }
        for answer in answers.values { schemas += answer.content.values.compactMap { $0 } }
        return schemas
    }

    /// Whether `Idempotency-Key` has an effect.
    var isIdempotent: Bool { headers.contains("idempotency-key") }

    /// The segments of the path: literal, or the name of a parameter.
    var segments: [(text: String, isParameter: Bool)] {
        path.split(separator: "/", omittingEmptySubsequences: true).map { segment in
            segment.hasPrefix("{") ? (String(segment.dropFirst().dropLast()), true) : (String(segment), false)
        }
    }
}
