import Chassis
import OpenIDConnect
import ServiceLifecycle

import struct Foundation.Date
import class Foundation.FileManager

/// The OpenID provider that signs people in, and what its claims mean here.
struct ProviderSettings: Sendable {
    let provider: Provider
    let nameClaim: String
    let roleClaim: String
    let roles: [String: Role]
}

extension ProviderSettings {
    /// Nil where no issuer is configured.
    init?(_ settings: Settings<Configuration>, now: @escaping @Sendable () -> Date) throws {
        guard let issuer = settings.issuer else { return nil }
        var problems: [ConfigurationProblem] = []
        func needed<Value>(_ value: Value?, _ name: String, _ reason: String) -> Value? {
            if value == nil { problems.append(.unusable(name: name, reason: reason)) }
            return value
        }
        let clientId = needed(
            settings.clientId, "STOREKEEPER_CONSOLE_OIDC_CLIENT_ID", "is needed with STOREKEEPER_CONSOLE_OIDC_ISSUER")
        let roles = needed(
            settings.providerRoles, "STOREKEEPER_CONSOLE_OIDC_ROLES",
            "is needed with STOREKEEPER_CONSOLE_OIDC_ISSUER: without a role every person is refused")
        var secret: String?
        if let file = settings.clientSecretFile {
            secret = needed(
                Self.text(of: file), "STOREKEEPER_CONSOLE_OIDC_CLIENT_SECRET_FILE",
                "names no readable file with a secret")
        }
        guard problems.isEmpty, let clientId, let roles else { throw ConfigurationProblems(problems) }
        self.init(
            provider: Provider(
                issuer: issuer,
                client: Client(
                    id: clientId, secret: secret, redirectURI: settings.origin.text + "/sign-in/callback",
                    scopes: settings.scopes), now: now),
            nameClaim: settings.nameClaim, roleClaim: settings.roleClaim, roles: roles)
    }

    /// The person whom a token is about.
    func person(_ token: IDToken) throws -> (name: String, role: Role) {
        guard let name = token.text(nameClaim), !name.isEmpty, name.utf8.count <= 200 else {
            throw Fault(
                403, "You are not signed in: the provider does not tell your name.",
                "The ID token has no text in the claim “\(nameClaim)”. Have the provider send it, or set "
                    + "STOREKEEPER_CONSOLE_OIDC_NAME_CLAIM and STOREKEEPER_CONSOLE_OIDC_SCOPES.")
        }
        for claim in [nameClaim, roleClaim] where Self.isEmail(claim) {
            guard token.hasVerifiedEmail(beside: claim) else {
                throw Fault(
                    403, "You are not signed in: the provider does not say that your email address is verified.",
                    "Verify it there, and sign in again. The ID token needs email_verified true, no text and no number; with a "
                        + "provider that sends no such claim, set STOREKEEPER_CONSOLE_OIDC_NAME_CLAIM and "
                        + "STOREKEEPER_CONSOLE_OIDC_ROLE_CLAIM to claims that people cannot choose, such as sub and groups."
                )
            }
        }
        guard let role = token.texts(roleClaim).compactMap({ Role.of($0, in: roles) }).max() ?? roles["*"] else {
            throw Fault(
                403, "You are not signed in: \(name) has no role here.",
                "Ask for one of the values of STOREKEEPER_CONSOLE_OIDC_ROLES in the claim “\(roleClaim)”.")
        }
        return (name, role)
    }

    /// Whether a claim holds an email address, which at many providers anyone may enter. Of a path or an address the last part
    /// counts.
    private static func isEmail(_ claim: String) -> Bool {
        let last = claim.lowercased().split(whereSeparator: { ".:/".contains($0) }).last ?? ""
        return last.contains("email") || last == "mail"
    }

    private static func text(of file: String) -> String? {
        guard let bytes = FileManager.default.contents(atPath: file),
            let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        let secret = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        return secret.isEmpty ? nil : secret
    }
}

/// Closes the connections to the provider when the process ends.
struct ProviderConnections: Service {
    let provider: Provider?

    func run() async throws {
        try? await gracefulShutdown()
        try? await provider?.shutdown()
    }
}
