import Development
import Foundation
import Signatures
import Testing

@Suite struct OCSPRequestTests {
    private static let now = Date(timeIntervalSince1970: 1_780_000_000)
    private static let day = 86_400.0

    private let authority: DevelopmentAuthority
    private let leaf: Certificate
    private let intermediate: Certificate
    private let request: OCSPRequest

    init() throws {
        authority = try DevelopmentAuthority(now: Self.now, ocspAddress: "http://127.0.0.1:1/")
        leaf = try Certificate(der: authority.leaf)
        intermediate = authority.intermediateIssuer.certificate
        request = try OCSPRequest(about: leaf, issuedBy: intermediate, nonce: Array(1...16))
    }

    private func responder(signer: CertificateIssuer? = nil) -> OCSPResponder {
        OCSPResponder(authorities: [
            .init(authority.intermediateIssuer, signer: signer), .init(authority.rootIssuer),
        ])
    }

    private func answer(
        _ responder: OCSPResponder, dated date: Date = now, read: Date = now,
        standing: OCSPAnswer.Standing = .good
    ) throws -> Result<OCSPAnswer, OCSPFault> {
        let response = try responder.response(to: request.der, now: date) { _ in standing }
        return Result { () throws(OCSPFault) in try request.answer(in: response, now: read) }
    }

    @Test func `OCSPRequest reads good, revoked and unknown as the issuer answered`() throws {
        let good = try answer(responder()).get()
        #expect(good.standing == .good)
        #expect(good.thisUpdate == Self.now)
        #expect(good.validUntil == Self.now.addingTimeInterval(3600))
        let since = Self.now.addingTimeInterval(-60)
        let revoked = try answer(responder(), standing: .revoked(since, reason: "whatever")).get()
        #expect(revoked.standing == .revoked(since, reason: "unspecified"))
        #expect(try answer(responder(), standing: .unknown).get().standing == .unknown)
    }

    @Test func `OCSPResponder answers for the certificate of the request, of any of its authorities`() throws {
        var asked: [String] = []
        _ = try responder().response(to: request.der, now: Self.now) {
            asked.append($0)
            return .good
        }
        let above = try OCSPRequest(
            about: intermediate, issuedBy: authority.rootIssuer.certificate, nonce: Array(1...16))
        let response = try responder().response(to: above.der, now: Self.now) {
            asked.append($0)
            return .good
        }
        #expect(try above.answer(in: response, now: Self.now).standing == .good)
        #expect(asked == [leaf.serialNumber, intermediate.serialNumber])
    }

    @Test func `OCSPRequest accepts answers of the issuer's delegate, and of no other signer`() throws {
        let profile = CertificateProfile.responder(
            notBefore: Self.now.addingTimeInterval(-Self.day), notAfter: Self.now.addingTimeInterval(Self.day))
        let delegate = try authority.intermediateIssuer.issueAuthority(profile, for: .generate(.p256))
        #expect(try answer(responder(signer: delegate)).get().standing == .good)

        func rejection(_ signer: CertificateIssuer) throws -> OCSPFault? {
            if case .failure(let fault) = try answer(responder(signer: signer)) { return fault }
            return nil
        }
        func isUntrusted(_ signer: CertificateIssuer) throws -> Bool {
            if case .untrusted = try rejection(signer) { true } else { false }
        }
        // The issuer's name with another key.
        #expect(try isUntrusted(try DevelopmentAuthority(now: Self.now).intermediateIssuer))
        // A delegate of the authority above, which is not the issuer.
        #expect(try isUntrusted(try authority.rootIssuer.issueAuthority(profile, for: .generate(.p256))))
        // The issuer's own payload certificate, whose purpose is another.
        #expect(try isUntrusted(CertificateIssuer(certificate: leaf, key: IssuingKey(authority.leafKey))))
        // A delegate whose certificate has expired.
        var over = profile
        over.notAfter = Self.now.addingTimeInterval(-60)
        #expect(try isUntrusted(try authority.intermediateIssuer.issueAuthority(over, for: .generate(.p256))))
        // A delegate of the delegate.
        #expect(try isUntrusted(try delegate.issueAuthority(profile, for: .generate(.p256))))
    }

    @Test func `OCSPRequest accepts an answer only in its time`() throws {
        let hour = 3600.0
        #expect(try answer(responder(), read: Self.now.addingTimeInterval(hour)).get().standing == .good)
        #expect(try answer(responder(), read: Self.now.addingTimeInterval(2 * hour)) == .failure(.stale))
        #expect(try answer(responder(), dated: Self.now.addingTimeInterval(hour)) == .failure(.fromTheFuture))
        var vague = responder()
        vague.validity = nil
        #expect(try answer(vague).get().validUntil == Self.now.addingTimeInterval(hour))
        #expect(try answer(vague, dated: Self.now.addingTimeInterval(-2 * hour)) == .failure(.stale))
    }

    @Test func `OCSPRequest accepts an answer without a nonce, and rejects another nonce`() throws {
        var forgetful = responder()
        forgetful.repeatsNonce = false
        #expect(try answer(forgetful).get().standing == .good)
        let other = try OCSPRequest(about: leaf, issuedBy: intermediate, nonce: Array(2...17))
        let response = try responder().response(to: other.der, now: Self.now) { _ in .good }
        #expect(throws: OCSPFault.otherNonce) { try request.answer(in: response, now: Self.now) }
    }

    @Test func `OCSPRequest takes nothing from an answer about another certificate of the same issuer`() throws {
        let sibling = try authority.intermediateIssuer.issue(
            .leaf(notBefore: Self.now, notAfter: Self.now.addingTimeInterval(Self.day)), for: .generate(.p256))
        let other = try OCSPRequest(about: sibling, issuedBy: intermediate, nonce: Array(1...16))
        let response = try responder().response(to: other.der, now: Self.now) { _ in .good }
        #expect(throws: OCSPFault.otherCertificate) { try request.answer(in: response, now: Self.now) }
    }

    @Test func `OCSPRequest has different faults for a declined request and an unreadable response`() throws {
        #expect(throws: OCSPFault.declined("trylater")) {
            try request.answer(in: try OCSPResponder.busy(), now: Self.now)
        }
        let stranger = try DevelopmentAuthority(now: Self.now)
        let elsewhere = OCSPResponder(authorities: [.init(stranger.intermediateIssuer)])
        let unauthorized = try elsewhere.response(to: request.der, now: Self.now) { _ in .good }
        #expect(throws: OCSPFault.declined("unauthorized")) { try request.answer(in: unauthorized, now: Self.now) }
        let malformed = try responder().response(to: [1, 2, 3], now: Self.now) { _ in .good }
        #expect(throws: OCSPFault.declined("malformedrequest")) { try request.answer(in: malformed, now: Self.now) }
        // OpenSSL decodes such parameters of the hash algorithm, but cannot encode them again.
        var odd = request.der
        odd[try #require(odd.firstRange(of: [0x05, 0x00])).lowerBound] = 0x20
        let refused = try responder().response(to: odd, now: Self.now) { _ in .good }
        #expect(throws: OCSPFault.declined("malformedrequest")) { try request.answer(in: refused, now: Self.now) }
        let response = try responder().response(to: request.der, now: Self.now) { _ in .good }
        #expect(throws: OCSPFault.unreadable) { try request.answer(in: response + [0], now: Self.now) }
        #expect(throws: OCSPFault.unreadable) { try request.answer(in: Array(response.dropLast()), now: Self.now) }
        #expect(throws: OCSPFault.unreadable) { try request.answer(in: [], now: Self.now) }
    }

    @Test func `OCSPRequest lets no changed byte turn revoked into good`() throws {
        let response = try responder().response(to: request.der, now: Self.now) { _ in
            .revoked(Self.now, reason: "")
        }
        for index in response.indices {
            for bit: UInt8 in [1, 0x80] {
                var changed = response
                changed[index] ^= bit
                let standing = try? request.answer(in: changed, now: Self.now).standing
                #expect(standing != .good && standing != .unknown, "byte \(index)")
            }
        }
    }
}
