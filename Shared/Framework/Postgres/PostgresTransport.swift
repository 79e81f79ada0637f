/// How a connection travels, as libpq made it of the URL and the environment.
public struct PostgresTransport: Sendable, Equatable {
    /// A name, an address, or the directory of a socket.
    public var host: String
    /// libpq's `sslmode`.
    public var sslMode: String
    /// Whether TLS is in use.
    public var isEncrypted: Bool

    /// What an operator should know of it; nil where the server is proven, or on this machine.
    public var warning: String? {
        guard !isLocal, sslMode != "verify-full" else { return nil }
        let state =
            switch (isEncrypted, sslMode) {
            case (false, _): "is not encrypted"
            case (true, "verify-ca"): "is encrypted, and any server with a certificate of that authority can read it"
            case (true, _): "is encrypted, and any server on the way can read it: its certificate is not verified"
            }
        return "The connection to Postgres at \(host) \(state) (sslmode=\(sslMode)); set sslmode=verify-full and "
            + "sslrootcert in DATABASE_URL"
    }

    private var isLocal: Bool {
        host.isEmpty || host.hasPrefix("/") || host.hasPrefix("127.") || host == "localhost" || host == "::1"
    }
}
