/// The URL of an endpoint, as far as its text says whether requests may be sent there. Addresses are checked when it is connected to.
package struct WebhookURL: Sendable, Equatable, CustomStringConvertible {
    /// Whether the connection is encrypted.
    package let isEncrypted: Bool
    /// A name in lower case, or an address without brackets.
    package let host: String
    /// Of the host.
    package let port: Int
    /// Path and query, `/` at least.
    package let target: String

    /// Why a URL is not accepted, a clause.
    package struct Objection: Error, Equatable, CustomStringConvertible {
        package let description: String

        init(_ description: String) { self.description = description }
    }

    /// The most bytes of a URL.
    package static let limit = 2048

    /// Parsed here and strictly: what two parsers read differently, one would check and the other connect to.
    /// - Parameter allowsPlain: whether `http://` is accepted, for receivers on this machine in development mode.
    package init(_ text: String, allowsPlain: Bool) throws(Objection) {
        guard text.utf8.count <= Self.limit, text.utf8.allSatisfy({ 0x21...0x7e ~= $0 && $0 != 0x5c && $0 != 0x22 })
        else { throw Objection("it has a character that a URL cannot have, or more than \(Self.limit)") }
        guard let scheme = text.firstRange(of: "://") else { throw Objection("it does not begin with https://") }
        switch text[..<scheme.lowerBound].lowercased() {
        case "https": isEncrypted = true
        case "http" where allowsPlain: isEncrypted = false
        case "http":
            throw Objection("http:// is for receivers on this machine in development mode; use https://")
        default: throw Objection("it does not begin with https://")
        }
        let rest = text[scheme.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !rest.contains("#") else { throw Objection("it has a fragment, which is not sent") }
        guard !authority.contains("@") else { throw Objection("it has a user name or password; use the signature") }
        (host, port) = try Self.place(String(authority), isEncrypted ? 443 : 80)
        let behind = rest[authority.endIndex...]
        target = behind.hasPrefix("/") ? String(behind) : "/" + behind
    }

    /// Without user, with the port where it is not the scheme's.
    package var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        let isUsual = port == (isEncrypted ? 443 : 80)
        return (isEncrypted ? "https://" : "http://") + name + (isUsual ? "" : ":\(port)") + target
    }

    private static func place(_ authority: String, _ usual: Int) throws(Objection) -> (String, Int) {
        var (name, rest) = (authority[...], ""[...])
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { throw Objection("its address has no end") }
            name = authority[authority.index(after: authority.startIndex)..<end]
            rest = authority[authority.index(after: end)...]
            guard name.contains(":"), NetworkAddress(String(name)) != nil else {
                throw Objection("“\(name)” is no address")
            }
        } else {
            name = authority.prefix { $0 != ":" }
            rest = authority[name.endIndex...]
        }
        let host = name.lowercased()
        if let objection = objection(to: host) { throw Objection(objection) }
        guard !rest.isEmpty else { return (host, usual) }
        guard rest.hasPrefix(":"), let port = Int(rest.dropFirst()), 1...65_535 ~= port,
            rest.dropFirst().utf8.allSatisfy({ 0x30...0x39 ~= $0 })
        else { throw Objection("its port is no number from 1 to 65535") }
        guard port >= 1024 || port == 443 else {
            throw Objection("port \(port) belongs to another service: use 443, or 1024 and above")
        }
        return (host, port)
    }

    private static func objection(to host: String) -> String? {
        if NetworkAddress(host) != nil { return nil }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard !host.isEmpty, host.utf8.count <= 253, labels.allSatisfy({ isLabel($0) }) else {
            return "“\(host)” is no host name; write one of another script as xn--…"
        }
        // Some resolvers read 0x7f.1, 2130706433 and 0177.0.0.1 as addresses.
        guard let last = labels.last, !last.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), !last.hasPrefix("0x")
        else {
            return "“\(host)” is a number and not an address of four decimal numbers"
        }
        return nil
    }

    private static func isLabel(_ label: Substring) -> Bool {
        1...63 ~= label.utf8.count && !label.hasPrefix("-") && !label.hasSuffix("-")
            && label.utf8.allSatisfy { 0x61...0x7a ~= $0 || 0x30...0x39 ~= $0 || $0 == 0x2d || $0 == 0x5f }
    }
}
