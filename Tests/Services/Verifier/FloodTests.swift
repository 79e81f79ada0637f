import AppStore
import Contracts
import Foundation
import Pipeline
import Records
import Signatures
import Testing

@testable import AppStoreSamples
@testable import Verifier

@Suite struct FloodTests {
    private static let now = Date(timeIntervalSince1970: 1_780_000_000)

    /// In a process of its own, without the allocations of other tests.
    @Test func `Verifier holds no memory for a flood of distinct forged headers, and keeps its proofs`() async {
        await #expect(processExitsWith: .success) {
            let material = try ForgeryMaterial(now: Self.now)
            let verifier = try material.verifier()
            let stage = Verify(verifier: { verifier }, now: { Self.now }, cores: 2)
            let genuine = try material.signed(try material.envelope(material.transaction(), material.renewal()))
            let flood = Flood(material)
            func pour(_ range: Range<Int>) async throws {
                for start in stride(from: range.lowerBound, to: range.upperBound, by: 200) {
                    let payloads = (start..<start + 200).map(flood.payload) + [genuine]
                    let results = try await stage.process(payloads.map(Self.delivery))
                    #expect(results.dropLast().allSatisfy { Self.reason($0) == Flood.expected })
                    #expect(Self.reason(results[200]) == nil)
                }
            }
            // After this the allocator has what it keeps available.
            try await pour(0..<1000)
            #expect(verifier.remembered == (1, 1))
            let resident = try Self.residentBytes()
            try await pour(1000..<6000)
            #expect(verifier.remembered == (1, 1))
            // The flood itself was twenty-five megabytes of headers; another core's allocator may keep some of it.
            #expect(try Self.residentBytes() - resident < 12 << 20)
        }
    }

    private static func delivery(_ payload: [UInt8]) -> Delivery<ReceivedNotification> {
        Delivery(
            message: ReceivedNotification(signedPayload: payload, source: .webhook, receivedAt: now),
            position: LogPosition(topic: Topics.received.name, partition: 0, offset: 0))
    }

    private static func reason(_ result: StageResult<VerifiedNotification, VerifyReason>) -> String? {
        if case .deadLetter(let reason, _) = result { reason.rawValue } else { nil }
    }

    private static func residentBytes() throws -> Int {
        let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return try #require(fields.dropFirst().first.flatMap { Int($0) }) * 4096
    }
}

/// The trusted certificates, under a header of its own each, and no signature by their keys: as far as a forger gets.
private struct Flood: Sendable {
    static let expected = "signature"
    private let chain: String
    private let tail: [UInt8]

    init(_ material: ForgeryMaterial) {
        chain = material.authority.x5c.map { "\"\($0)\"" }.joined(separator: ",")
        tail =
            Array(".".utf8) + Base64.encode(material.envelope().json, .url) + Array(".".utf8)
            + Base64.encode([UInt8](repeating: 1, count: 64), .url)
    }

    func payload(_ number: Int) -> [UInt8] {
        Base64.encode(Array(#"{"alg":"ES256","kid":"\#(number)","x5c":[\#(chain)]}"#.utf8), .url) + tail
    }
}
