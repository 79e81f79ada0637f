import AppStore
import Foundation
import Signatures
import Testing

@testable import AppStoreSamples

@Suite struct VerificationFailureReasonTests {
    private static let now = Date(timeIntervalSince1970: 1_780_000_000)

    @Test func `VerificationFailureReason has a forgery for each reason`() throws {
        let corpus = try ForgeryCorpus(now: Self.now)
        let verifier = try corpus.material.verifier()
        var reached = Set(corpus.all.compactMap { $0.rejection(by: verifier, now: Self.now)?.reason })
        // Depends on a responder and not on the payload.
        let genuine = Forgery("genuine", nil, try corpus.material.signed(corpus.material.envelope()))
        for isHard in [false, true] {
            let register = RevocationRegister(isHard: isHard)
            let verifier = SignedDataVerifier(
                trust: try corpus.material.trust(), apps: corpus.material.registry, revocations: register)
            if !isHard {
                register.note(.revoked, ofCertificate: try Certificate(der: corpus.material.authority.leaf).sha256)
            }
            reached.formUnion([genuine.rejection(by: verifier, now: Self.now)].compactMap(\.?.reason))
        }
        // Depends on how busy the verifier is.
        let fresh = try corpus.material.verifier()
        let none = ChainBudget(perSecond: 0, burst: 0, instant: { .now })
        if case .failure(let rejection) = fresh.notification(genuine.jws, now: Self.now, budget: none) {
            reached.insert(rejection.reason)
        }
        #expect(reached == Set(VerificationFailureReason.allCases))
    }

    @Test func `VerificationFailureReason is proven from the body on, and unproven before`() {
        let all = VerificationFailureReason.allCases
        #expect(all.prefix { !$0.isProven }.last == .chainObjectIdentifier)
        #expect(!all.drop { !$0.isProven }.contains { !$0.isProven })
    }
}
