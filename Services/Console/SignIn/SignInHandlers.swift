import Hummingbird
import Storage

import struct Foundation.Date

/// Signing in by a one-time link, and out.
struct SignInHandlers: Sendable {
    struct Page: Sendable {
        /// Of the address; nil where there is none.
        let link: String?
        let problem: String?
        let command: String
    }

    let console: Console

    /// `GET /sign-in`: shows a button. What only follows links, such as a preview in a chat, uses no link up.
    func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        page(request, link: request.query["link"], problem: nil)
    }

    /// `POST /sign-in`
    func signIn(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let secret = console.newSecret()
        let now = console.clock.now()
        let end = now.addingTimeInterval(Double(console.session.components.seconds))
        guard let link = Authenticator.digest(request.form["link"] ?? ""), let session = Authenticator.digest(secret)
        else {
            return page(request, link: nil, problem: "This is no link of the console.", status: 403)
        }
        let person = try await console.database.withConnection { connection in
            try await ConsoleSessions(connection).begin(link: link, session: session, at: now, until: end)
        }
        guard person != nil else {
            return page(
                request, link: nil, problem: "The link was used before, or its five minutes are over.", status: 403)
        }
        var response = ConsoleResponse.redirect(to: "/")
        response.headers[.setCookie] =
            "\(Authenticator.cookie)=\(secret); Path=/; Secure; HttpOnly; SameSite=Strict; "
            + "Max-Age=\(console.session.components.seconds)"
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

    private func page(
        _ request: ConsoleRequest, link: String?, problem: String?, status: Int = 200
    ) -> ConsoleResponse {
        console.page(
            "sign-in", "Sign in",
            Page(
                link: link, problem: problem,
                command: "storekeeper console login --as YOUR-NAME --role operator"),
            request, status: status)
    }
}
