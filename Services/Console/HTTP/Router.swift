/// Answers the requests of one route.
typealias Handler = @Sendable (ConsoleRequest) async throws -> ConsoleResponse

/// A path and who may use it.
struct Route: Sendable {
    let method: String
    let pattern: [Substring]
    /// The least role; nil for people who are not signed in.
    let role: Role?
    let handler: Handler

    init(_ method: String, _ pattern: String, _ role: Role?, _ handler: @escaping Handler) {
        self.method = method
        self.pattern = pattern.split(separator: "/")
        self.role = role
        self.handler = handler
    }

    /// For metrics: the pattern, never the address.
    var name: String { "\(method) /\(pattern.joined(separator: "/"))" }
}

/// Finds the route of a path. Parts in braces match any text.
struct Router: Sendable {
    enum Match: Sendable {
        case found(Route, [String: String])
        case otherMethod
        case notFound
    }

    let routes: [Route]

    func match(_ method: String, _ path: [String]) -> Match {
        var isKnown = false
        for route in routes {
            guard let parameters = Self.parameters(route.pattern, path) else { continue }
            if route.method == method || (method == "HEAD" && route.method == "GET") {
                return .found(route, parameters)
            }
            isKnown = true
        }
        return isKnown ? .otherMethod : .notFound
    }

    private static func parameters(_ pattern: [Substring], _ path: [String]) -> [String: String]? {
        guard pattern.count == path.count else { return nil }
        var parameters: [String: String] = [:]
        for (part, given) in zip(pattern, path) {
            if part.first == "{" {
                parameters[String(part.dropFirst().dropLast())] = given
            } else if part != given {
                return nil
            }
        }
        return parameters
    }
}
