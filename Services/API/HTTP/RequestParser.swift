import Hummingbird
import StrictJSON

import struct Foundation.CharacterSet

/// Turns what came over the wire into what the document describes, or into a problem.
struct RequestParser: Sendable {
    let check: SchemaCheck
    /// Deeper than anything the document describes; the parser itself needs no stack.
    static let depth = 32

    /// Path segments, still encoded, and the query behind `?`.
    static func split(_ target: String) -> (path: [Substring], query: Substring) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return (
            (parts.first ?? "").split(separator: "/", omittingEmptySubsequences: true),
            parts.count > 1 ? parts[1] : ""
        )
    }

    func path(_ raw: [String: String], of operation: APIOperation) throws(Problem) -> [String: String] {
        var values: [String: String] = [:]
        for (name, text) in raw { values[name] = try Self.decoded(text[...], of: name) }
        let faults = operation.pathParameters.compactMap { parameter in
            parameter.schema.fault(ofParameter: values[parameter.name] ?? "").map {
                ValueFault(pointer: parameter.name, detail: $0)
            }
        }
        guard faults.isEmpty else { throw Self.invalid("path", faults) }
        return values
    }

    func query(_ raw: Substring, of operation: APIOperation) throws(Problem) -> [String: String] {
        var values: [String: String] = [:]
        var faults: [ValueFault] = []
        for pair in raw.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = try Self.decoded(parts[0], of: "query")
            let value = try Self.decoded(parts.count > 1 ? parts[1] : "", of: name)
            guard let parameter = operation.queryParameters.first(where: { $0.name == name }) else {
                let known = operation.queryParameters.map(\.name).joined(separator: ", ")
                faults.append(
                    ValueFault(
                        pointer: String(name.prefix(100)),
                        detail: "is not a parameter of this operation; known are: \(known.isEmpty ? "none" : known)"))
                continue
            }
            if values.updateValue(value, forKey: name) != nil {
                faults.append(ValueFault(pointer: name, detail: "is given twice"))
            } else if let detail = parameter.schema.fault(ofParameter: value) {
                faults.append(ValueFault(pointer: name, detail: detail))
            }
        }
        for parameter in operation.queryParameters where parameter.isRequired && values[parameter.name] == nil {
            faults.append(ValueFault(pointer: parameter.name, detail: "is required"))
        }
        guard faults.isEmpty else { throw Self.invalid("query", faults) }
        return values
    }

    /// Reads no byte more than the operation allows.
    func body(_ request: Request, of operation: APIOperation) async throws -> JSONDocument? {
        guard let schema = operation.body else { return nil }
        let limit = operation.bodyLimit
        let type = request.headers[.contentType]?.prefix { $0 != ";" && $0 != " " }.lowercased()
        guard type == "application/json" else {
            throw Problem(
                .unsupportedMediaType, "Send the body as JSON with the header “Content-Type: application/json”.")
        }
        let tooLarge = Problem(.bodyTooLarge, "The body may have \(limit) bytes; send less at a time.")
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limit { throw tooLarge }
        var bytes: [UInt8] = []
        do {
            for try await buffer in request.body {
                guard bytes.count + buffer.readableBytes <= limit else { throw tooLarge }
                bytes += buffer.readableBytesView
            }
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Problem(.malformedRequest, "The body broke off.")
        }
        let document: JSONDocument
        do {
            document = try JSONDocument(bytes, limits: JSONLimits(depth: Self.depth, bytes: limit))
        } catch {
            throw Problem(.malformedJSON, "\(error); send one JSON object.")
        }
        let faults = check.faults(of: document.root, by: schema)
        guard faults.isEmpty else { throw Self.invalid("body", faults) }
        return document
    }

    private static func invalid(_ part: String, _ faults: [ValueFault]) -> Problem {
        let first = faults[0]
        let place = first.pointer.isEmpty ? "the \(part)" : "\(first.pointer) in the \(part)"
        return Problem(.invalidRequest, "\(place) \(first.detail). GET /openapi.json describes it.", faults: faults)
    }

    /// Percent-decoded UTF-8 without NUL.
    private static func decoded(_ text: Substring, of name: String) throws(Problem) -> String {
        guard let decoded = text.replacing("+", with: "%20").removingPercentEncoding,
            !decoded.utf8.contains(0), decoded.utf8.count <= 2048
        else {
            throw Problem(
                .malformedRequest,
                "\(name.prefix(100)) is not percent-encoded UTF-8 without NUL of at most 2048 bytes; encode it so.")
        }
        return decoded
    }
}
