import Development
import Foundation
import Postgres
import TestSupport
import Testing

/// `verify-full` against a server with certificates of our own.
@Suite(.hangLimit) struct TLSTests {
    static let isEncrypted = Statement(
        "test-encrypted", "select ssl, version from pg_stat_ssl where pid = pg_backend_pid()")

    @Test func `sslmode verify-full connects to a server with a certificate of our authority`() async throws {
        try await Self.withServer(named: "127.0.0.1") { url, certificates async throws in
            let row = try await Self.ask(url, rootCertificate: certificates.authority)
            #expect(try row.value("ssl") == true)
            #expect(try row.value("version", as: String.self).hasPrefix("TLSv1."))
        }
    }

    @Test func `sslmode verify-full rejects a server whose certificate is for another name`() async throws {
        try await Self.withServer(named: "db.example.com") { url, certificates async throws in
            let error = await #expect(throws: PostgresError.self) {
                _ = try await Self.ask(url, rootCertificate: certificates.authority)
            }
            #expect(try #require(error).message.contains("does not match host name"))
        }
    }

    @Test func `sslmode verify-full rejects a server with a certificate of another authority`() async throws {
        let others = try DevelopmentCertificates()
        defer { others.remove() }
        try await Self.withServer(named: "127.0.0.1") { url, _ async throws in
            let error = await #expect(throws: PostgresError.self) {
                _ = try await Self.ask(url, rootCertificate: others.authority)
            }
            #expect(try #require(error).message.contains("certificate verify failed"))
        }
    }

    private static func ask(_ url: String, rootCertificate: String) async throws -> Row {
        let connection = TestDatabase.connection(
            PostgresConfiguration(
                url: "\(url)?sslmode=verify-full&sslrootcert=\(rootCertificate)", applicationName: "storekeeper-tests"))
        let row: Result<Row, any Error>
        do { row = .success(try await connection.execute(isEncrypted)[0]) } catch { row = .failure(error) }
        await connection.close()
        return try row.get()
    }

    /// The server takes up a setting when it comes to it; each new session begins with what it has.
    private static func becomesEncrypted(_ url: String) async throws {
        let setting = Statement("test-ssl", "select current_setting('ssl') as ssl")
        let deadline = ContinuousClock.now + .hangLimit
        while ContinuousClock.now < deadline {
            let connection = TestDatabase.connection(
                PostgresConfiguration(url: "\(url)?sslmode=disable", applicationName: "storekeeper-tests"))
            let ssl: String = try await connection.execute(setting)[0].value("ssl")
            await connection.close()
            if ssl == "on" { return }
        }
        Issue.record("the server did not take up its certificate within a minute")
    }

    private static func withServer(
        named name: String, _ body: (String, DevelopmentCertificates) async throws -> Void
    ) async throws {
        let certificates = try DevelopmentCertificates()
        defer { certificates.remove() }
        let (certificate, key) = try certificates.issue(for: name)
        let server = try await DevelopmentPostgres.start(durability: .none)
        // The server requires a key that only its owner can read.
        let owned = server.directory + "/server.key"
        try FileManager.default.copyItem(atPath: key, toPath: owned)
        let owner = try FileManager.default.attributesOfItem(atPath: server.directory)
        try FileManager.default.setAttributes(
            [
                .posixPermissions: 0o600, .ownerAccountID: try #require(owner[.ownerAccountID]),
                .groupOwnerAccountID: try #require(owner[.groupOwnerAccountID]),
            ], ofItemAtPath: owned)
        let administrator = TestDatabase.connection(
            PostgresConfiguration(url: server.url, applicationName: "storekeeper-tests"))
        for setting in ["ssl_cert_file = '\(certificate)'", "ssl_key_file = '\(owned)'", "ssl = on"] {
            try await administrator.run(unsafeScript: "alter system set \(setting)")
        }
        try await administrator.run(unsafeScript: "select pg_reload_conf()")
        await administrator.close()
        try await becomesEncrypted(server.url)
        let result: Result<Void, any Error>
        do { result = .success(try await body(server.url, certificates)) } catch { result = .failure(error) }
        await server.stop()
        try result.get()
    }
}
