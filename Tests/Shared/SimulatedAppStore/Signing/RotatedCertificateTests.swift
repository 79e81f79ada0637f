import AppStore
import Foundation
import Signatures
import StrictJSON
import Testing

@testable import SimulatedAppStore

/// Apple's intermediate and leaf are replaced every few years, and history still holds what the old ones signed.
@Suite struct RotatedCertificateTests {
    private static let now = NotificationSignerTests.now

    @Test func `Renewed intermediate and leaf sign what is dated since, and both are verified by one root`() throws {
        let authority = try NotificationSignerTests.authority.get()
        let renewed = try authority.renewed(now: Self.now)
        let change = Self.now.adding(-20 * 86_400)
        let signer = NotificationSigner(
            authority: authority, impostor: try NotificationSignerTests.impostor.get(), successor: (renewed, change))
        let verifier = try NotificationSignerTests.verifier()
        var chains: [Bool: Set<[String]>] = [:]
        for event in PopulationTests.events(200, seed: 12) {
            let jws = try signer.sign(event)
            _ = try verifier.notification(jws, now: Self.now).get()
            chains[event.signedDate >= change, default: []].insert(try Self.chain(of: jws))
        }
        let before = try #require(chains[false]?.first)
        let after = try #require(chains[true]?.first)
        #expect(chains.mapValues(\.count) == [false: 1, true: 1])
        #expect(before[0] != after[0] && before[1] != after[1])
        #expect(before[2] == after[2])
    }

    private static func chain(of jws: [UInt8]) throws -> [String] {
        let parts = try #require(CompactJWS(jws[...]))
        let header = try JSONDocument(try #require(Base64.decode(parts.header, .url))).root
        return try #require(header["x5c"]?.elements).compactMap(\.string)
    }
}
