/// Finds the operation of a request. Made from the document; every operation has a handler and every handler an operation.
struct Router: Sendable {
    struct Route: Sendable {
        var operation: APIOperation
        var handler: Handler
    }

    enum Match: Sendable {
        case found(Route, parameters: [String: String])
        /// The path exists; these methods are possible.
        case otherMethod(allowed: [String])
        case notFound
    }

    private let routes: [Route]
    /// By method and number of segments; literal segments before parameters.
    private let bySize: [String: [Int]]
    private let segments: [[(text: String, isParameter: Bool)]]

    init(_ operations: [APIOperation], handlers: [String: Handler]) throws(RouterFault) {
        let unhandled = operations.map(\.id).filter { handlers[$0] == nil }
        let undocumented = Set(handlers.keys).subtracting(operations.map(\.id))
        guard unhandled.isEmpty, undocumented.isEmpty else {
            throw RouterFault(unhandled: unhandled.sorted(), undocumented: undocumented.sorted())
        }
        let routes = operations.compactMap { operation in
            handlers[operation.id].map { Route(operation: operation, handler: $0) }
        }.sorted { one, other in
            one.operation.segments.count(where: \.isParameter) < other.operation.segments.count(where: \.isParameter)
        }
        self.routes = routes
        segments = routes.map(\.operation.segments)
        bySize = Dictionary(grouping: routes.indices) { index in
            Self.key(routes[index].operation.method, routes[index].operation.segments.count)
        }
    }

    /// - Parameter path: its segments, still percent-encoded.
    func match(_ method: String, _ path: [Substring]) -> Match {
        for index in bySize[Self.key(method, path.count)] ?? [] {
            guard let parameters = parameters(of: path, at: index) else { continue }
            return .found(routes[index], parameters: parameters)
        }
        let allowed = routes.indices.filter { segments[$0].count == path.count && parameters(of: path, at: $0) != nil }
            .map { routes[$0].operation.method }
        return allowed.isEmpty ? .notFound : .otherMethod(allowed: Set(allowed).sorted())
    }

    private func parameters(of path: [Substring], at index: Int) -> [String: String]? {
        var parameters: [String: String] = [:]
        for (segment, given) in zip(segments[index], path) {
            if segment.isParameter {
                parameters[segment.text] = String(given)
            } else if segment.text != given {
                return nil
            }
        }
        return parameters
    }

    private static func key(_ method: String, _ count: Int) -> String { "\(method) \(count)" }
}

/// The document and the handlers do not agree.
struct RouterFault: Error, CustomStringConvertible {
    var unhandled: [String]
    var undocumented: [String]

    var description: String {
        "openapi.json and the handlers differ: without handler \(unhandled), without operation \(undocumented); "
            + "each operationId needs one line in Handlers.swift"
    }
}
