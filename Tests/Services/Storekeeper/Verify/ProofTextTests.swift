import Foundation
import Testing

@testable import Operations
@testable import OperationsTests
@testable import Storekeeper

struct ProofTextTests {
    private let fixture: ProofFixture

    init() throws { fixture = try ProofFixture() }

    @Test func `Text of a proof says who signed and what was not checked`() throws {
        let proof = fixture.proof(try fixture.sign())
        #expect(proof.text.hasPrefix("VERIFIED: signed by a root of --root or STOREKEEPER_ROOT_FILES (not Apple)"))
        #expect(proof.text.contains("NOT CHECKED: give --bundle-id"))
        #expect(proof.text.contains(#""notificationType": "TEST""#))
    }

    @Test func `verify rejects a notification without its root, and shows the payload as unverified`() throws {
        let proof = fixture.proof(try fixture.sign(), trust: .apple)
        #expect(proof.rejection?.reason == .chainUntrusted)
        #expect(proof.text.hasPrefix("REJECTED (chain-untrusted): "))
        #expect(proof.text.contains("payload, NOT verified"))
    }

    @Test func `verify --json prints JSON`() throws {
        struct Answer: Decodable {
            var verified: Bool
            var reason: String?
            var certificates: [[String: String]]
        }
        let jws = try fixture.sign()
        let proven = try JSONDecoder().decode(Answer.self, from: Data(fixture.proof(jws).json.utf8))
        #expect(proven.verified && proven.reason == nil && proven.certificates.count == 3)
        let rejected = try JSONDecoder().decode(Answer.self, from: Data(fixture.proof(jws, trust: .apple).json.utf8))
        #expect(!rejected.verified && rejected.reason == "chain-untrusted")
    }

    @Test func `Text of a proof without a JWS shows no certificate`() {
        let proof = fixture.proof(Array("no.jws".utf8))
        #expect(proof.text.contains("none readable"))
    }
}
