import Development
import Foundation
import TestSupport
import Testing

@testable import Kafka

/// The development broker has no TLS, so the other end is `openssl s_server`: it shows the handshake, and nothing else is
/// visible of a client that finds no Kafka there.
@Suite(.hangLimit) struct TLSTests {
    @Test func `Client presents its certificate and verifies the broker's, by settings from the environment`()
        async throws
    {
        let certificates = try DevelopmentCertificates()
        defer { certificates.remove() }
        let server = try Server(certificates)
        defer { server.stop() }
        let client = try certificates.issue(for: "verifier.example.com")
        let configuration = try KafkaConfiguration(
            environment: [
                "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:\(server.port)", "KAFKA_SECURITY_PROTOCOL": "ssl",
                "KAFKA_SSL_CA_LOCATION": certificates.authority, "KAFKA_SSL_CERTIFICATE_LOCATION": client.certificate,
                "KAFKA_SSL_KEY_LOCATION": client.key,
            ], fallback: "")
        let admin = try KafkaAdmin(configuration, patience: .seconds(2), logger: quiet)
        _ = try? await admin.topics()
        let said = try server.said(until: "subject=CN = verifier.example.com")
        #expect(said.contains("subject=CN = verifier.example.com"))
    }

    @Test func `Client rejects a broker of another authority`() async throws {
        let certificates = try DevelopmentCertificates()
        let others = try DevelopmentCertificates()
        defer {
            certificates.remove()
            others.remove()
        }
        let server = try Server(certificates)
        defer { server.stop() }
        let configuration = try KafkaConfiguration(
            environment: [
                "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:\(server.port)", "KAFKA_SECURITY_PROTOCOL": "ssl",
                "KAFKA_SSL_CA_LOCATION": others.authority,
            ], fallback: "")
        let admin = try KafkaAdmin(configuration, patience: .seconds(2), logger: quiet)
        await #expect(throws: KafkaError.self) { _ = try await admin.topics() }
        let said = try server.said(until: "unknown ca")
        #expect(said.contains("unknown ca"))
    }
}

/// One TLS server that requires client certificates.
private final class Server {
    let port: Int
    private let process = Process()
    private let output = Pipe()

    init(_ certificates: DevelopmentCertificates) throws {
        let own = try certificates.issue(for: "127.0.0.1")
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", own.certificate, "-key", own.key,
            "-CAfile", certificates.authority, "-verify", "1",
        ]
        process.standardOutput = output
        process.standardError = output
        // Kept open and empty: at its end the server would stop.
        process.standardInput = Pipe()
        try process.start()
        let said = try Self.read(output, until: "ACCEPT")
        let line = try #require(said.split(whereSeparator: \.isNewline).last { $0.hasPrefix("ACCEPT") })
        port = try #require(Int(line.split(separator: ":").last ?? ""))
    }

    /// Its output up to the expected line or its end.
    func said(until text: String) throws -> String { try Self.read(output, until: text) }

    func stop() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    private static func read(_ pipe: Pipe, until text: String) throws -> String {
        var said = ""
        while !(said.contains(text) && said.hasSuffix("\n")) {
            let more = pipe.fileHandleForReading.availableData
            guard !more.isEmpty else { break }
            said += String(decoding: more, as: UTF8.self)
        }
        return said
    }
}
