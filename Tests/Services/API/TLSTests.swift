import AsyncHTTPClient
import Chassis
import Foundation
import NIOSSL
import TestSupport
import Testing

@testable import API

/// The API where it ends TLS itself.
struct TLSTests {
    private static let logger = Logger.quiet

    /// The status of a request by a client that trusts an authority. One connection.
    private static func status(port: Int, trusting authority: String, scheme: String = "https") async throws -> UInt {
        var configuration = HTTPClient.Configuration()
        configuration.tlsConfiguration = .makeClientConfiguration()
        configuration.tlsConfiguration?.trustRoots = .file(authority)
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Result<UInt, any Error>
        do {
            let request = HTTPClientRequest(url: "\(scheme)://127.0.0.1:\(port)/openapi.json")
            result = .success(try await client.execute(request, timeout: .minutes(10)).status.code)
        } catch {
            result = .failure(error)
        }
        try await client.shutdown()
        return try result.get()
    }

    @Test func `API ends TLS with its certificate, and with a renewed one on new connections`() async throws {
        let (first, second) = (try DevelopmentCertificates(), try DevelopmentCertificates())
        defer {
            first.remove()
            second.remove()
        }
        let (old, new) = (try first.issue(for: "127.0.0.1"), try second.issue(for: "127.0.0.1"))
        let certificate = try ServerCertificate(certificate: old.certificate, key: old.key, logger: Self.logger)
        try await RunningAPI.with(certificate: certificate) { api in
            #expect(try await Self.status(port: api.port, trusting: first.authority) == 200)
            await #expect(throws: (any Error).self) {
                try await Self.status(port: api.port, trusting: second.authority)
            }
            await #expect(throws: (any Error).self) {
                try await Self.status(port: api.port, trusting: first.authority, scheme: "http")
            }
            // Half of a renewal: the key of another certificate. The former pair stays.
            try Data(contentsOf: URL(fileURLWithPath: new.key)).write(
                to: URL(fileURLWithPath: old.key), options: .atomic)
            certificate.reloadIfChanged()
            #expect(try await Self.status(port: api.port, trusting: first.authority) == 200)
            try Data(contentsOf: URL(fileURLWithPath: new.certificate)).write(
                to: URL(fileURLWithPath: old.certificate), options: .atomic)
            certificate.reloadIfChanged()
            #expect(try await Self.status(port: api.port, trusting: second.authority) == 200)
            await #expect(throws: (any Error).self) {
                try await Self.status(port: api.port, trusting: first.authority)
            }
        }
    }

    @Test func `A certificate with the key of another, or without a key, fails the start with both names`() throws {
        let certificates = try DevelopmentCertificates()
        defer { certificates.remove() }
        let (one, other) = (try certificates.issue(for: "127.0.0.1"), try certificates.issue(for: "127.0.0.2"))
        let problems = #expect(throws: ConfigurationProblems.self) {
            try ServerCertificate(certificate: one.certificate, key: other.key, logger: Self.logger)
        }
        #expect(problems?.problems.first?.description.contains("STOREKEEPER_API_TLS_KEY_FILE") == true)
        let alone = #expect(throws: ConfigurationProblems.self) {
            try Settings(
                Configuration(),
                environment: [
                    "DATABASE_URL": "postgres://a@127.0.0.1/a", "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1",
                    "STOREKEEPER_API_TLS_CERTIFICATE_FILE": one.certificate,
                ])
        }
        #expect(alone?.problems.map(\.description).contains { $0.contains("need each other") } == true)
    }
}
