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
        let server = try await Server(certificates)
        defer { server.stop() }
        let client = try certificates.issue(for: "verifier.example.com")
        let configuration = try KafkaConfiguration(
            environment: [
                "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:\(server.port)", "KAFKA_SECURITY_PROTOCOL": "ssl",
                "KAFKA_SSL_CA_LOCATION": certificates.authority, "KAFKA_SSL_CERTIFICATE_LOCATION": client.certificate,
                "KAFKA_SSL_KEY_LOCATION": client.key,
            ], fallback: "")
        let admin = try KafkaAdmin(configuration, patience: .seconds(2), logger: quiet)
        #expect(try await server.says("subject=CN = verifier.example.com") { _ = try? await admin.topics() })
    }

    @Test func `Client rejects a broker of another authority`() async throws {
        let certificates = try DevelopmentCertificates()
        let others = try DevelopmentCertificates()
        defer {
            certificates.remove()
            others.remove()
        }
        let server = try await Server(certificates)
        defer { server.stop() }
        let configuration = try KafkaConfiguration(
            environment: [
                "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:\(server.port)", "KAFKA_SECURITY_PROTOCOL": "ssl",
                "KAFKA_SSL_CA_LOCATION": others.authority,
            ], fallback: "")
        let admin = try KafkaAdmin(configuration, patience: .seconds(2), logger: quiet)
        #expect(
            try await server.says("unknown ca") {
                await #expect(throws: KafkaError.self) { _ = try await admin.topics() }
            })
    }
}

/// One TLS server that requires client certificates.
private final class Server {
    let port: Int
    private let process = Process()
    private let directory: TemporaryDirectory
    private var said: String { Self.text(of: directory) }

    init(_ certificates: DevelopmentCertificates) async throws {
        directory = try TemporaryDirectory()
        let own = try certificates.issue(for: "127.0.0.1")
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", own.certificate, "-key", own.key,
            "-CAfile", certificates.authority, "-verify", "1",
        ]
        try Data().write(to: directory.url("said"))
        let output = try FileHandle(forWritingTo: directory.url("said"))
        _ = try output.seekToEnd()
        process.standardOutput = output
        process.standardError = output
        // Kept open and empty: at its end the server would stop.
        process.standardInput = Pipe()
        try process.start()
        let deadline = ContinuousClock.now.advanced(by: .hangLimit)
        var line: Substring?
        while line == nil, process.isRunning, ContinuousClock.now < deadline {
            await Task.yield()
            line = Self.text(of: directory).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
                .dropLast().last {
                    $0.hasPrefix("ACCEPT")
                }
        }
        let number = line?.split(separator: ":").last.flatMap { Int($0) }
        port = try #require(number, "\(Self.text(of: directory))")
    }

    /// Whether it says this, at the latest after many repetitions of what makes it: on a busy machine a client's patience may end
    /// before it has connected.
    func says(_ text: String, after repeated: () async -> Void) async throws -> Bool {
        let deadline = ContinuousClock.now.advanced(by: .hangLimit)
        repeat { await repeated() } while !said.contains(text) && process.isRunning && ContinuousClock.now < deadline
        return said.contains(text)
    }

    private static func text(of directory: TemporaryDirectory) -> String {
        (try? String(contentsOf: directory.url("said"), encoding: .utf8)) ?? ""
    }

    func stop() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        directory.remove()
    }
}
