import struct Foundation.Date

/// The request whether one certificate has been revoked, and the check of its response.
public struct OCSPRequest: Sendable {
    /// The encoding, for a POST with the content type `application/ocsp-request`.
    public let der: [UInt8]
    private let handle: OCSPRequestHandle
    private let issuer: Certificate

    /// - Parameters:
    ///   - certificate: the request is about it.
    ///   - issuer: the authority above it, which signs the answer itself or by a delegate.
    ///   - nonce: up to 32 random bytes. A responder that repeats them did not sign its answer in advance.
    public init(about certificate: Certificate, issuedBy issuer: Certificate, nonce: [UInt8]) throws(OpenSSLFailure) {
        handle = try OCSPRequestHandle(certificate: certificate.handle, issuer: issuer.handle, nonce: nonce)
        der = try handle.encoded()
        self.issuer = issuer
    }

    /// The answer about the certificate: signed by its issuer or the issuer's delegate, about this
    /// certificate, at this time.
    ///
    /// Responders that sign in advance repeat no nonce, Apple's among them; then only the answer's own
    /// validity protects against an old one. A nonce that differs is rejected.
    public func answer(in response: [UInt8], now: Date) throws(OCSPFault) -> OCSPAnswer {
        let answer = try OCSPResponseHandle(der: response).answer(
            to: handle, issuer: issuer.handle, at: Int(now.timeIntervalSince1970))
        guard answer.thisUpdate <= now.addingTimeInterval(OCSPAnswer.tolerance) else { throw .fromTheFuture }
        guard answer.validUntil >= now.addingTimeInterval(-OCSPAnswer.tolerance) else { throw .stale }
        return answer
    }
}
