import Chassis
import Storage
import StrictJSON

/// `openapi.json`, written by hand: which operations there are, what each takes and answers, and which scope it needs.
///
/// It is the source: the router is made from it, bodies and parameters are checked by it, and it is what
/// `GET /openapi.json` serves. JSON rather than YAML, because our own strict reader reads it, and every JSON text is YAML.
struct APIDocument: Sendable {
    /// As it is served.
    let bytes: [UInt8]
    let operations: [APIOperation]
    let check: SchemaCheck

    private static let methods = ["get", "put", "post", "delete", "patch"]
    private static let standardBodyLimit = 64 << 10

    /// The document of this build, with its version as `info.version`.
    static func embedded() throws -> APIDocument { try read.get() }

    private static let read = Result {
        let text = String(decoding: PackageResources.openapi_json, as: UTF8.self)
        let versioned = text.replacing(
            #""version": "0.0.0""#, with: #""version": "\#(BuildInformation.version)""#, maxReplacements: 1)
        return try APIDocument(Array(versioned.utf8))
    }

    init(_ bytes: [UInt8]) throws {
        self.bytes = bytes
        let root = try JSONDocument(bytes, limits: JSONLimits(depth: 40)).root
        let components = root["components"]
        var schemas: [String: Schema] = [:]
        for (name, schema) in components?["schemas"]?.members ?? [] {
            schemas[name] = try Schema(schema, at: "components/schemas/\(name)")
        }
        check = SchemaCheck(schemas: schemas)
        var operations: [APIOperation] = []
        for (path, item) in root["paths"]?.members ?? [] {
            for (method, operation) in item.members {
                let place = "\(method) \(path)"
                guard Self.methods.contains(method) else { throw DocumentFault(place, "an unknown method") }
                operations.append(
                    try Self.operation(operation, path: path, method: method, components: components, at: place))
            }
        }
        self.operations = operations
        let used = Array(schemas.values) + operations.flatMap(\.schemas)
        if let missing = used.flatMap(\.references).first(where: { schemas[$0] == nil }) {
            throw DocumentFault("components/schemas/\(missing)", "is referred to and does not exist")
        }
        let ids = operations.map(\.id)
        if let twice = ids.first(where: { id in ids.count(where: { $0 == id }) > 1 }) {
            throw DocumentFault(twice, "two operations have this operationId")
        }
    }

    private static func operation(
        _ json: JSONValue, path: String, method: String, components: JSONValue?, at place: String
    ) throws(DocumentFault) -> APIOperation {
        guard let id = json["operationId"]?.string else { throw DocumentFault(place, "has no operationId") }
        var operation = APIOperation(id: id, method: method.uppercased(), path: path)
        operation.scope = try scope(json, at: place)
        for parameter in json["parameters"]?.elements ?? [] {
            try read(resolved(parameter, "parameters", in: components), into: &operation, at: place)
        }
        let named = Set(operation.segments.filter(\.isParameter).map(\.text))
        guard named == Set(operation.pathParameters.map(\.name)) else {
            throw DocumentFault(place, "the parameters in the path and under parameters differ")
        }
        if let body = json["requestBody"]?["content"]?["application/json"]?["schema"] {
            operation.body = try Schema(body, at: "\(place)/requestBody")
            operation.bodyLimit = json["x-body-limit"]?.int64.map { Int($0) } ?? standardBodyLimit
        }
        for (status, answer) in json["responses"]?.members ?? [] {
            guard let code = Int(status) else { throw DocumentFault(place, "\(status) is not a status") }
            var content: [String: Schema?] = [:]
            for (type, media) in resolved(answer, "responses", in: components)["content"]?.members ?? [] {
                var schema: Schema?
                if let described = media["schema"] { schema = try Schema(described, at: "\(place)/\(status)") }
                content.updateValue(schema, forKey: type)
            }
            operation.answers[code] = APIOperation.Answer(content: content)
        }
        return operation
    }

    /// `security: []` where no key is needed, else one requirement with one scope.
    private static func scope(_ json: JSONValue, at place: String) throws(DocumentFault) -> APIScope? {
        guard let security = json["security"]?.elements else { throw DocumentFault(place, "has no security") }
        guard let requirement = security.first else { return nil }
        guard let name = requirement["key"]?.elements.first?.string, let scope = APIScope(rawValue: name) else {
            throw DocumentFault(place, "needs a scope that no key can have")
        }
        return scope
    }

    private static func read(
        _ json: JSONValue, into operation: inout APIOperation, at place: String
    ) throws(DocumentFault) {
        guard let name = json["name"]?.string, let described = json["schema"] else {
            throw DocumentFault(place, "a parameter without name or schema")
        }
        let parameter = APIOperation.Parameter(
            name: name, isRequired: json["required"]?.bool ?? false,
            schema: try Schema(described, at: "\(place)/\(name)"))
        switch json["in"]?.string {
        case "path": operation.pathParameters.append(parameter)
        case "query": operation.queryParameters.append(parameter)
        case "header": operation.headers.insert(name.lowercased())
        default: throw DocumentFault(place, "the parameter \(name) is in an unknown place")
        }
    }

    /// What a `$ref` of this kind refers to, else the value itself.
    private static func resolved(_ json: JSONValue, _ kind: String, in components: JSONValue?) -> JSONValue {
        let prefix = "#/components/\(kind)/"
        guard let reference = json["$ref"]?.string, reference.hasPrefix(prefix) else { return json }
        return components?[kind]?[String(reference.dropFirst(prefix.count))] ?? json
    }
}
