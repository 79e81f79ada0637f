import Hummingbird
import OpenIDConnect
import Storage

import struct Foundation.Date

/// Signing in by a one-time link, and out.
struct SignInHandlers: Sendable {
    struct Page: Sendable {
        /// Of the address; nil where there is none.
        var link: String?
        var problem: String?
        /// Of someone who has neither; nil where there is nothing to make.
        var command: String?
        /// Nil where no provider is configured.
        var provider: ProviderSignIn.Link?
        /// What the provider sent the browser back with.
        var returned: ProviderSignIn.Returned?
    }

    let console: Console

    /// `GET /sign-in`: shows a button. What only follows links, such as a preview in a chat, uses no link up.
    func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        if let link = request.query["link"] {
            return page(Page(link: link), request)
        }
        return try await page(problem: nil, request)
    }

    /// `POST /sign-in`
    func signIn(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let secret = console.newSecret()
        let now = console.clock.now()
        let end = now.addingTimeInterval(Double(console.session.components.seconds))
        guard let link = Authenticator.digest(request.form["link"] ?? ""), let session = Authenticator.digest(secret)
        else {
            return try await page(problem: "This is no link of the console.", request, status: 403)
        }
        let person = try await console.database.withConnection { connection in
            try await ConsoleSessions(connection).begin(link: link, session: session, at: now, until: end)
        }
        guard person != nil else {
            return try await page(
                problem: "The link was used before, or its five minutes are over.", request, status: 403)
        }
        return Self.signedIn(secret, for: console.session)
    }

    /// Leads to the overview with the cookie of a session that has begun.
    static func signedIn(_ secret: String, for session: Duration) -> ConsoleResponse {
        var response = ConsoleResponse.redirect(to: "/")
        response.headers[.setCookie] =
            "\(Authenticator.cookie)=\(secret); Path=/; Secure; HttpOnly; SameSite=Strict; "
            + "Max-Age=\(session.components.seconds)"
        return response
    }

    /// `POST /sign-out`
    func signOut(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        if let session = request.identity?.session {
            try await console.database.withConnection { connection in
                try await ConsoleSessions(connection).end(session, at: console.clock.now())
            }
        }
        var response = ConsoleResponse.redirect(to: "/sign-in")
        response.headers[.setCookie] =
            "\(Authenticator.cookie)=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0"
        return response
    }

    /// With the ways to sign in. A provider that does not answer leaves the other one.
    private func page(
        problem: String?, _ request: ConsoleRequest, status: Int = 200
    ) async throws -> ConsoleResponse {
        var content = Page(problem: problem, command: "storekeeper console login --as YOUR-NAME --role operator")
        var cookie: String?
        do {
            if let begun = try await ProviderSignIn(console: console).begin(request) {
                (content.provider, cookie) = (begun.link, begun.cookie)
            }
        } catch let failure as ProviderFailure {
            console.logger.warning("Provider unavailable", metadata: ["error": "\(failure)"])
            content.problem = "\(failure) \(failure.remedy)"
        }
        var response = page(content, request, status: status)
        if let cookie { response.headers[.setCookie] = cookie }
        return response
    }

    private func page(_ content: Page, _ request: ConsoleRequest, status: Int = 200) -> ConsoleResponse {
        console.page("sign-in", "Sign in", content, request, status: status)
    }
}
