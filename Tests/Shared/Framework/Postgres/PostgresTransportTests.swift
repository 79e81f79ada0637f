import TestSupport
import Testing

@testable import Postgres

@Suite struct PostgresTransportTests {
    @Test(arguments: ["", "/run/postgresql", "127.0.0.1", "localhost", "::1"])
    func `PostgresTransport does not warn about a server on this machine`(host: String) {
        #expect(PostgresTransport(host: host, sslMode: "prefer", isEncrypted: false).warning == nil)
    }

    @Test(arguments: [
        ("prefer", false, "is not encrypted (sslmode=prefer)"),
        ("disable", false, "is not encrypted (sslmode=disable)"),
        ("require", true, "its certificate is not verified (sslmode=require)"),
        ("verify-ca", true, "any server with a certificate of that authority can read it (sslmode=verify-ca)"),
    ])
    func `PostgresTransport warns about a server that is not proven`(mode: String, isEncrypted: Bool, text: String) {
        let warning = PostgresTransport(host: "db.example.com", sslMode: mode, isEncrypted: isEncrypted).warning
        #expect(warning?.contains("Postgres at db.example.com") == true && warning?.contains(text) == true)
        #expect(warning?.hasSuffix("set sslmode=verify-full and sslrootcert in DATABASE_URL") == true)
    }

    @Test func `PostgresTransport of a proven server has no warning`() {
        #expect(PostgresTransport(host: "db.example.com", sslMode: "verify-full", isEncrypted: true).warning == nil)
    }

    @Test func `PostgresConnection tells how it travels`() async throws {
        try await TestDatabase.connected(isMigrated: false) { connection in
            let transport = try await connection.transport()
            await connection.close()
            #expect(!transport.sslMode.isEmpty && !transport.host.isEmpty)
            #expect(transport.warning == nil || !transport.host.hasPrefix("127."))
        }
    }
}
