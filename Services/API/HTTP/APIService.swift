import Chassis
import Hummingbird
import Operations
import Postgres
import Storage

import struct Foundation.Date
import struct Foundation.UUID

/// Takes a request through everything that is the same for all operations: path, key, scope, rate, parameters, body,
/// idempotency, handler. Each step either goes on or throws the problem that is the answer.
struct APIService: Sendable {
    let router: Router
    let parser: RequestParser
    let keys: KeyTable
    let limiter: RateLimiter<UUID>
    let budgets: KeyBudgets
    /// Where large bodies are parsed.
    let lane: WorkLane
    let idempotency: Idempotency
    let tracer: Tracer
    let clock: ProcessClock
    let logger: Logger

    /// The answer to any request: never throws, and every failure is a problem document.
    /// - Parameter onKey: called once the request was found to have a valid key.
    func answer(_ request: Request, onKey: @Sendable () -> Void = {}) async -> APIResponse {
        let arrived = clock.now()
        let instant = clock.instant()
        // Only of a client with a key; a stranger may not choose the id of a trace.
        var course = Course(trace: tracer.step(below: nil))
        var response: APIResponse
        do {
            response = try await respond(request, &course, onKey)
        } catch let problem as Problem {
            response = problem.response
        } catch {
            response = failure(error, course).response
        }
        for (name, value) in course.headers { response.headers[name] = value }
        response.headers[.traceparent] = course.trace.traceparent
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        let operation = course.operation ?? "none"
        Metric.apiAnswers.counter(operation, "\(response.status)").increment()
        Metric.apiAnswer.timer(operation).recordNanoseconds(
            Int64(instant.duration(to: clock.instant()) / .nanoseconds(1)))
        finish(course, request, from: arrived, status: response.status)
        return response
    }

    /// What is known of a request so far, for the headers, metrics and trace of any answer.
    private struct Course {
        var trace: TraceContext
        var parent: UInt64?
        var operation: String?
        var headers: [(name: HTTPField.Name, value: String)] = []
    }

    private func respond(
        _ request: Request, _ course: inout Course, _ onKey: @Sendable () -> Void
    ) async throws -> APIResponse {
        let (path, query) = RequestParser.split(request.head.path ?? "")
        let (route, rawPath) = try match(request.method.rawValue, path)
        let operation = route.operation
        course.operation = operation.id
        let key = try authorized(request, operation, &course)
        if operation.scope != nil { onKey() }
        // Both are held until the answer.
        let place = budgets.enter(key.id, .request)
        guard place != nil || operation.scope == nil else {
            throw Problem.exhausted(
                key, "has \(budgets.limits.requests) requests in progress, as many as one key may have",
                "wait for their answers")
        }
        let held = budgets.body(of: key.id)
        defer { withExtendedLifetime((place, held)) {} }
        let parsed = APIRequest(
            operation: operation, key: key, path: try parser.path(rawPath, of: operation),
            query: try parser.query(query, of: operation), headers: request.headers,
            body: try await parser.body(request, of: operation, key, held: held, lane: lane), trace: course.trace)
        if parsed.weight > 1 { try take(Double(parsed.weight - 1), of: key, &course) }
        return try await ServedKey.$id.withValue(key.id) {
            guard operation.isIdempotent, let name = request.headers[.idempotencyKey] else {
                return try await route.handler(parsed)
            }
            return try await idempotency.answer(parsed, under: name, target: request.head.path ?? "", route.handler)
        }
    }

    private func match(_ method: String, _ path: [Substring]) throws(Problem) -> (Router.Route, [String: String]) {
        switch router.match(method, path) {
        case .found(let route, let parameters): return (route, parameters)
        case .otherMethod(let allowed):
            let list = allowed.joined(separator: ", ")
            throw Problem(.methodNotAllowed, "This path has \(list).", headers: [.allow: list])
        case .notFound: throw Problem(.noSuchPath, "GET /openapi.json lists all paths.")
        }
    }

    /// The key of the request, which may make it; one without any rights where the operation needs none.
    private func authorized(
        _ request: Request, _ operation: APIOperation, _ course: inout Course
    ) throws(Problem) -> ClientKey {
        guard let scope = operation.scope else { return .none }
        let key = try keys.key(authorization: request.headers[.authorization])
        if let given = request.headers.first(where: { $0.name.canonicalName == "traceparent" }),
            let parent = TraceContext(given.value)
        {
            course.trace = tracer.step(below: parent)
            course.parent = parent.span
        }
        try take(1, of: key, &course)
        try key.require(scope)
        return key
    }

    /// Takes requests of those that the key may make.
    private func take(_ amount: Double, of key: ClientKey, _ course: inout Course) throws(Problem) {
        let decision = limiter.take(key.id, amount, at: clock.instant())
        course.headers = [(.rateLimitPolicy, limiter.policy), (.rateLimit, limiter.header(decision))]
        guard !decision.isAllowed else { return }
        throw Problem(
            .tooManyRequests,
            "The key “\(key.name)” may make \(limiter.quota) requests a minute; wait \(decision.seconds) s.",
            headers: [.retryAfter: "\(decision.seconds)"])
    }

    /// Our fault or the database's. What happened goes into the log, not to the client.
    private func failure(_ error: any Error, _ course: Course) -> Problem {
        if let error = error as? OperationError { return Problem(error) }
        if let error = error as? PostgresError, error.isTransient {
            logger.warning("Database unavailable; answering 503", metadata: ["error": "\(error)"])
            return Problem(
                .unavailable, "The database does not answer; send it again in a few seconds.",
                headers: [.retryAfter: "5"])
        }
        if let error = error as? PostgresError, error.sqlState == ErasureStore.rejectedState {
            return .erased
        }
        if error is CancellationError {
            return Problem(.unavailable, "The service is stopping; send it again.", headers: [.retryAfter: "1"])
        }
        logger.error(
            "Request failed; answering 500",
            metadata: ["error": "\(error)", "operation": "\(course.operation ?? "none")"])
        return Problem(
            .internalError, "The service failed; its log has the reason under trace \(course.trace.traceId).")
    }

    private func finish(_ course: Course, _ request: Request, from start: Date, status: Int) {
        guard course.trace.isSampled else { return }
        tracer.finished([
            TraceSpan(
                context: course.trace, parent: course.parent, name: "api \(course.operation ?? "none")", kind: .server,
                start: start, end: clock.now(),
                attributes: [
                    ("http.request.method", .text(request.method.rawValue)),
                    ("http.response.status_code", .number(Int64(status))),
                ],
                failure: status >= 500 ? "answered \(status)" : nil)
        ])
    }
}

extension ClientKey {
    /// For operations without a key: sees nothing.
    static let none = ClientKey(
        id: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), name: "", environment: .localTesting,
        scopes: [], bundleIds: [""], digest: [], createdAt: .distantPast)
}
