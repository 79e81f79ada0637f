import struct Foundation.Date

/// The question whether one certificate has been revoked, and the judge of the answer to exactly this question.
public struct OCSPRequest: Sendable {
    /// The encoding, for a POST with the content type `application/ocsp-request`.
    public let der: [UInt8]
    private let handle: OCSPRequestHandle
    private let issuer: Certificate

    /// - Parameters:
    ///   - certificate: what is asked about.
    ///   - issuer: the authority above it, whose word alone counts, or that of whom it appointed.
    ///   - nonce: up to 32 random bytes. A responder that repeats them did not take its answer from a drawer.
    public init(about certificate: Certificate, issuedBy issuer: Certificate, nonce: [UInt8]) throws(OpenSSLFailure) {
        handle = try OCSPRequestHandle(certificate: certificate.handle, issuer: issuer.handle, nonce: nonce)
        der = try handle.encoded()
        self.issuer = issuer
    }

    /// What a response says about the certificate: signed by its issuer or whom the issuer appointed, about this
    /// certificate, at this time.
    ///
    /// Responders that sign their answers beforehand repeat no nonce, Apple's among them; then only the answer's own
    /// validity stands against one that was kept. A nonce that differs is refused.
    public func answer(in response: [UInt8], now: Date) throws(OCSPFault) -> OCSPAnswer {
        let answer = try OCSPResponseHandle(der: response).answer(
            to: handle, issuer: issuer.handle, at: Int(now.timeIntervalSince1970))
        guard answer.thisUpdate <= now.addingTimeInterval(OCSPAnswer.tolerance) else { throw .fromTheFuture }
        guard answer.validUntil >= now.addingTimeInterval(-OCSPAnswer.tolerance) else { throw .stale }
        return answer
    }
}
