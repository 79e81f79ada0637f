/// The address of a server.
public struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// A name or an address; an IPv6 address without its brackets.
    public var host: String
    /// 0 lets the system choose a free port.
    public var port: Int

    /// A host and a port that are known to be valid.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads `host:port` or `[IPv6]:port`; nil for anything else, in particular for a port alone: listening everywhere
    /// must be explicit (`0.0.0.0`).
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        let digits = text[text.index(after: colon)...]
        guard !host.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }), let port = Int(digits), port <= 65535
        else { return nil }
        self.init(host: String(host), port: port)
    }

    /// The text it is read from.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
