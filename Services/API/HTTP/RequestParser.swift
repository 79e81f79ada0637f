import Hummingbird
import Storage
import StrictJSON

import struct Foundation.CharacterSet

/// Turns what came over the wire into what the document describes, or into a problem.
struct RequestParser: Sendable {
    let check: SchemaCheck
    /// Within which a body has to arrive.
    var timeout = Duration.seconds(15)
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

    /// Larger bodies are parsed beside verification, where they wait for no other key and no other key waits for them.
    private static let smallBody = 64 << 10

    /// Reads no byte more than the operation allows, and none beyond what the key may hold.
    /// - Parameter held: what the key holds of bodies while this one is received and answered.
    func body(
        _ request: Request, of operation: APIOperation, _ key: ClientKey, held: KeyLease, lane: WorkLane
    ) async throws -> JSONDocument? {
        guard let schema = operation.body else { return nil }
        let limit = operation.bodyLimit
        let type = request.headers[.contentType]?.prefix { $0 != ";" && $0 != " " }.lowercased()
        guard type == "application/json" else {
            throw Problem(
                .unsupportedMediaType, "Send the body as JSON with the header “Content-Type: application/json”.")
        }
        let tooLarge = Problem(.bodyTooLarge, "The body may have \(limit) bytes; send less at a time.")
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limit { throw tooLarge }
        let bytes = try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            group.addTask { try await Self.bytes(request, limit: limit, tooLarge, key, held) }
            group.addTask {
                try await Task.sleep(for: timeout)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let bytes = first else {
                throw Problem(
                    .requestTimeout, "The body did not arrive within \(timeout); send it whole and at once.",
                    headers: [.retryAfter: "1", .connection: "close"])
            }
            return bytes
        }
        let check = check
        let parsed = { @Sendable in Self.parsed(bytes, limit: limit, check, schema) }
        guard bytes.count > Self.smallBody else { return try parsed().get() }
        try lane.check(key)
        return try await lane.run(for: key.id, parsed).get()
    }

    private static func bytes(
        _ request: Request, limit: Int, _ tooLarge: Problem, _ key: ClientKey, _ held: KeyLease
    ) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            for try await buffer in request.body {
                guard bytes.count + buffer.readableBytes <= limit else { throw tooLarge }
                if let shortage = held.grow(by: buffer.readableBytes) { throw noRoom(shortage, key) }
                bytes += buffer.readableBytesView
            }
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Problem(.malformedRequest, "The body broke off.")
        }
        return bytes
    }

    private static func parsed(
        _ bytes: [UInt8], limit: Int, _ check: SchemaCheck, _ schema: Schema
    ) -> Result<JSONDocument, Problem> {
        let document: JSONDocument
        do {
            document = try JSONDocument(bytes, limits: JSONLimits(depth: depth, bytes: limit))
        } catch {
            return .failure(Problem(.malformedJSON, "\(error); send one JSON object."))
        }
        let faults = check.faults(of: document.root, by: schema)
        return faults.isEmpty ? .success(document) : .failure(invalid("body", faults))
    }

    private static func noRoom(_ shortage: KeyBudgets.Shortage, _ key: ClientKey) -> Problem {
        switch shortage {
        case .ofKey:
            .exhausted(
                key, "has as many bytes of request bodies in flight as one key may have",
                "complete the requests that are half-sent, and send fewer at a time")
        case .ofAll:
            Problem(
                .unavailable, "This instance receives as many bytes of request bodies as it can hold; send it again.",
                headers: [.retryAfter: "1"])
        }
    }

    private static func invalid(_ part: String, _ faults: [ValueFault]) -> Problem {
        let first = faults[0]
        let place = first.pointer.isEmpty ? "the \(part)" : "\(first.pointer) in the \(part)"
        return Problem(.invalidRequest, "\(place) \(first.detail). GET /openapi.json describes it.", faults: faults)
    }

    /// Percent-decoded UTF-8 without NUL.
    private static func decoded(_ text: Substring, of name: String) throws(Problem) -> String {
        // Almost always: ids of accounts and apps need no encoding.
        let isPlain = !text.utf8.contains { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }
        guard let decoded = isPlain ? String(text) : text.replacing("+", with: "%20").removingPercentEncoding,
            !decoded.utf8.contains(0), decoded.utf8.count <= 2048
        else {
            throw Problem(
                .malformedRequest,
                "\(name.prefix(100)) is not percent-encoded UTF-8 without NUL of at most 2048 bytes; encode it so.")
        }
        return decoded
    }
}
