import AsyncHTTPClient
import Development
import Foundation
import Signatures
import TestSupport
import Testing

@testable import SimulatedAppStore

/// The built command, as a process of its own.
@Suite struct OCSPCommandTests {
    @Test func `OCSP responder follows its list while the list is edited, and stops on SIGTERM`() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let process = Process()
        let products = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        process.executableURL = products.appendingPathComponent("simulator")
        process.arguments = [
            "ocsp", "--port", "0", "--authority", directory.path("authority"), "--ocsp-url", "http://ocsp.example/",
            "--revoked", directory.path("revoked"),
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.start()
        defer { process.terminate() }
        // Returns when the line is there: the responder listens by then.
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        let address = try #require(line.split(separator: "\n").first.map(String.init))

        let authority = try DevelopmentAuthority(loadingFrom: URL(fileURLWithPath: directory.path("authority")))
        let leaf = try Certificate(der: authority.leaf)
        #expect(leaf.ocspAddresses == ["http://ocsp.example/"])
        func standing() async throws -> OCSPAnswer.Standing {
            let question = try OCSPRequest(
                about: leaf, issuedBy: authority.intermediateIssuer.certificate, nonce: Array(1...16))
            var request = HTTPClientRequest(url: address)
            request.method = .POST
            request.body = .bytes(question.der)
            let response = try await HTTPClient.shared.execute(request, timeout: .minutes(10))
            let body = try await response.body.collect(upTo: 1 << 16)
            return try question.answer(in: Array(body.readableBytesView), now: Date()).standing
        }
        #expect(try await standing() == .good)
        try Data("leaf 1780000000000\n".utf8).write(to: URL(fileURLWithPath: directory.path("revoked")))
        let revoked = OCSPAnswer.Standing.revoked(Date(timeIntervalSince1970: 1_780_000_000), reason: "unspecified")
        #expect(try await standing() == revoked)
        try FileManager.default.removeItem(atPath: directory.path("revoked"))
        #expect(try await standing() == .good)

        process.terminate()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }
}
