import Digests
import Hummingbird
import Signatures
import Storage

import struct Foundation.Date

/// A person who is signed in.
struct Identity: Sendable, Equatable {
    let name: String
    let role: Role
    /// Of the session's cookie; nil for a person whom a proxy signed in.
    let session: [UInt8]?
}

/// Finds out who sends a request: by the session's cookie, or by the header of a trusted proxy.
struct Authenticator: Sendable {
    /// With this prefix browsers take the cookie over a secure connection only, for this host alone.
    static let cookie = "__Host-storekeeper"

    let proxies: Set<String>
    let userHeader: HTTPField.Name
    let proxyRoles: [String: Role]
    let database: ConnectionPool

    /// - Parameter peer: address of the connection's other end.
    func identity(_ headers: HTTPFields, peer: String?, at now: Date) async throws -> Identity? {
        if let peer, proxies.contains(peer), let name = Self.single(headers[values: userHeader]), !name.isEmpty,
            let role = Role.of(name, in: proxyRoles) ?? proxyRoles["*"]
        {
            return Identity(name: String(name.prefix(200)), role: role, session: nil)
        }
        guard let secret = Self.cookie(Self.cookie, in: headers), let digest = Self.digest(secret) else { return nil }
        let person = try await database.withConnection { connection in
            try await ConsoleSessions(connection).person(of: digest, at: now)
        }
        guard let person, let role = Role(rawValue: person.role) else { return nil }
        return Identity(name: person.name, role: role, session: digest)
    }

    /// What is stored of a secret; nil where the text can be none.
    static func digest(_ secret: some StringProtocol) -> [UInt8]? {
        let bytes = Array(secret.utf8)
        guard bytes.count == 43, Base64.decode(bytes[...], .url) != nil else { return nil }
        return SHA256Hash.digest(bytes)
    }

    /// The value of a cookie; nil where it is missing, or there twice.
    static func cookie(_ name: String, in headers: HTTPFields) -> String? {
        // By bytes, as browsers write them: a letter that joins the next character to itself, in a cookie of a neighbouring host, would
        // hide the one behind it.
        let pairs = headers[values: .cookie].flatMap { $0.utf8.split(separator: UInt8(ascii: ";")) }
        let values = pairs.compactMap { pair -> String? in
            let parts = pair.drop { $0 == UInt8(ascii: " ") }.split(separator: UInt8(ascii: "="), maxSplits: 1)
            guard parts.count == 2, parts[0].elementsEqual(name.utf8) else { return nil }
            return String(decoding: parts[1], as: UTF8.self)
        }
        return single(values)
    }

    /// Two of them are one too many: a client added one.
    private static func single(_ values: [String]) -> String? { values.count == 1 ? values[0] : nil }
}
