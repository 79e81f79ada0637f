import Chassis
import Hummingbird
import Operations
import Postgres
import Storage

/// Takes a request through everything that is the same for all pages: route, person, role, form token, handler. Every
/// failure is a page.
struct Responder: Sendable {
    private static let bodyLimit = 64 * 1024

    let console: Console
    let router: Router
    let authenticator: Authenticator
    /// Within which a form has to arrive.
    var bodyTimeout = Duration.seconds(15)

    /// - Parameter onIdentity: called once the request was found to be of a person who is signed in.
    func answer(
        _ request: Request, peer: String?, onIdentity: @Sendable () -> Void = {}
    ) async -> ConsoleResponse {
        let start = console.clock.instant()
        var name = "none"
        var isBodyPending = (request.headers[.contentLength] ?? "0") != "0" || request.headers[.transferEncoding] != nil
        var response: ConsoleResponse
        do {
            response = try await respond(request, peer, &name, &isBodyPending, onIdentity)
        } catch {
            response = page(of: error, name)
        }
        if isBodyPending { response.headers[.connection] = "close" }
        SecurityHeaders.add(to: &response.headers, isSecure: console.origin.text.hasPrefix("https"))
        Metric.consoleAnswers.counter(name, "\(response.status)").increment()
        Metric.consoleAnswer.timer(name).recordNanoseconds(
            Int64(start.duration(to: console.clock.instant()) / .nanoseconds(1)))
        return response
    }

    private func respond(
        _ request: Request, _ peer: String?, _ name: inout String, _ isBodyPending: inout Bool,
        _ onIdentity: @Sendable () -> Void
    ) async throws -> ConsoleResponse {
        let target = request.head.path ?? "/"
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let segments = (parts.first ?? "").split(separator: "/").compactMap { FormFields.text($0) }
        guard target.utf8.count <= 8192, let query = FormFields.decode(parts.count > 1 ? parts[1] : "") else {
            throw Fault(400, "The address cannot be read.", "Go to the overview.")
        }
        let method = request.head.method.rawValue
        let (route, parameters) = try match(method, segments)
        name = route.name
        let identity = try await authenticator.identity(request.headers, peer: peer, at: console.clock.now())
        if identity != nil { onIdentity() }
        if let least = route.role {
            guard let identity else {
                guard method == "POST" else { return .redirect(to: "/sign-in") }
                throw Fault(401, "Nothing was done: you are not signed in any more.", "Sign in and do it again.")
            }
            guard identity.role >= least else {
                throw Fault(
                    403, "Your role \(identity.role.rawValue) may not do this.",
                    "It needs the role \(least.rawValue): ask an operator for a link with it.")
            }
        }
        var form: [String: String] = [:]
        if method == "POST" {
            form = try await self.form(of: request)
            isBodyPending = false
            // A person who signs in again may have a session, but the page has no token of it.
            try check(request, form, route.role == nil ? nil : identity)
        }
        let asked = ConsoleRequest(
            path: "/" + segments.joined(separator: "/"), parameters: parameters, query: query, form: form,
            identity: identity, token: identity.map { console.tokens.token(of: $0, at: console.clock.now()) } ?? "",
            attempt: Authenticator.cookie(ProviderSignIn.cookie, in: request.headers),
            isFromElsewhere: !["same-origin", "none", nil].contains(request.headers.fetchSite))
        do {
            return try await route.handler(asked)
        } catch {
            guard method == "POST", route.role != nil, let rejection = Rejection(error, of: asked),
                let shown = await page(showing: rejection, segments, asked)
            else { throw error }
            return shown
        }
    }

    /// The page on which a rejected form stands: that of its address, else of the nearest one above it.
    /// - Returns: nil where there is no page that the person may see, or it cannot be shown.
    private func page(
        showing rejection: Rejection, _ segments: [String], _ request: ConsoleRequest
    ) async -> ConsoleResponse? {
        for count in (1...max(1, segments.count)).reversed() {
            let path = Array(segments.prefix(count))
            guard case .found(let route, let parameters) = router.match("GET", path) else { continue }
            guard let least = route.role, request.role >= least else { return nil }
            // A page that a query chooses has the same fields in its form.
            var again = ConsoleRequest(
                path: "/" + path.joined(separator: "/"), parameters: parameters,
                query: count == segments.count ? rejection.form : [:], form: [:], identity: request.identity,
                token: request.token, attempt: nil)
            again.rejection = rejection
            do {
                return try await route.handler(again)
            } catch {
                // A page of its own tells what was wrong with the form.
                return nil
            }
        }
        return nil
    }

    private func match(_ method: String, _ path: [String]) throws -> (Route, [String: String]) {
        switch router.match(method, path) {
        case .found(let route, let parameters): return (route, parameters)
        case .otherMethod: throw Fault(405, "This address does not take \(method).", "Go to the overview.")
        case .notFound: throw Fault.notFound("There is no such page.")
        }
    }

    /// That our own page sent the form: by what the browser says of its origin, and by the token.
    private func check(_ request: Request, _ form: [String: String], _ identity: Identity?) throws {
        let rejected = Fault(
            403, "Nothing was done: the form did not come from this page.",
            "Go back, reload the page, and do it again.")
        if let site = request.headers.fetchSite {
            guard site == "same-origin" else { throw rejected }
        } else {
            guard request.headers[.origin] == console.origin.text else { throw rejected }
        }
        guard let identity else { return }
        guard console.tokens.isValid(form["token"] ?? "", of: identity, at: console.clock.now()) else {
            throw rejected
        }
    }

    private func form(of request: Request) async throws -> [String: String] {
        let type = request.headers[.contentType]?.prefix { $0 != ";" && $0 != " " }.lowercased()
        guard type == "application/x-www-form-urlencoded" else {
            throw Fault(415, "Nothing was done: this is no form.", "Use the form of the page.")
        }
        let bytes = try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            group.addTask { try await Self.bytes(of: request) }
            group.addTask { [bodyTimeout] in
                try await Task.sleep(for: bodyTimeout)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let bytes = first else {
                throw Fault(408, "Nothing was done: the form did not arrive within \(bodyTimeout).", "Send it again.")
            }
            return bytes
        }
        guard let text = String(validating: bytes, as: UTF8.self), let form = FormFields.decode(text[...]) else {
            throw Fault(400, "Nothing was done: the form cannot be read.", "Remove unusual characters.")
        }
        return form
    }

    private static func bytes(of request: Request) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            for try await buffer in request.body {
                guard bytes.count + buffer.readableBytes <= bodyLimit else {
                    throw Fault(413, "Nothing was done: the form is too large.", "Send less at a time.")
                }
                bytes += buffer.readableBytesView
            }
        } catch let fault as Fault {
            throw fault
        } catch {
            throw Fault(400, "Nothing was done: the form broke off.", "Send it again.")
        }
        return bytes
    }

    private func page(of error: any Error, _ name: String) -> ConsoleResponse {
        switch error {
        case let fault as Fault: return console.page(of: fault)
        case let error as OperationError:
            return console.page(
                of: Fault(
                    error.kind == .notFound ? 404 : 422, "Nothing was done: \(error).", "Go back and change it."))
        case let error as PostgresError where error.sqlState == "57014":
            return console.page(
                of: Fault(
                    503, "The database took longer than the console waits for.",
                    "Ask for less: an app, a type, a shorter time."))
        case let error as PostgresError where error.sqlState == ErasureStore.rejectedState:
            return console.page(
                of: Fault(
                    409, "Nothing was done: this account was erased.",
                    "Create the customer again, with a new appAccountToken."))
        case let error as PostgresError where error.isTransient:
            console.logger.warning("Database unavailable; answering 503", metadata: ["error": "\(error)"])
            return console.page(
                of: Fault(503, "The database does not answer.", "Try again in a few seconds; the pipeline goes on."))
        default:
            console.logger.error(
                "Page failed; answering 500", metadata: ["error": "\(error)", "route": "\(name)"])
            return console.page(of: Fault(500, "The console failed.", "Its log has the reason."))
        }
    }
}
