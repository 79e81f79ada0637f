import Signatures

import struct Foundation.Date

/// Answers OCSP requests about certificates of development authorities: the simulator's half of
/// OCSP, and every deviation from it that must be rejected.
public struct OCSPResponder: Sendable {
    /// An authority and its signer.
    public struct Authority: Sendable {
        /// The issuer of the certificates in the requests.
        public var certificate: Certificate
        /// The authority itself, or a delegate that it issued for this (or, in tests, did not).
        public var signer: CertificateIssuer

        /// An authority that signs its answers itself, unless there is a delegate.
        public init(_ issuer: CertificateIssuer, signer: CertificateIssuer? = nil) {
            certificate = issuer.certificate
            self.signer = signer ?? issuer
        }
    }

    /// The authorities that it answers for. A request about another certificate is declined as unauthorized.
    public var authorities: [Authority]
    /// How many seconds an answer counts; nil leaves it out.
    public var validity: Double?
    /// Whether the request's nonce is in the answer. Responders that sign in advance cannot repeat it.
    public var repeatsNonce = true

    /// Answers for these, valid for an hour.
    public init(authorities: [Authority], validity: Double? = 3600) {
        self.authorities = authorities
        self.validity = validity
    }

    /// The response to any encoded request.
    ///
    /// - Parameters:
    ///   - now: the answer's date.
    ///   - standing: called for each serial number, in upper-case hexadecimal.
    public func response(
        to request: [UInt8], now: Date, standing: (_ serialNumber: String) -> OCSPAnswer.Standing
    ) throws(OpenSSLFailure) -> [UInt8] {
        let seconds = Int(now.timeIntervalSince1970)
        return try OCSPResponseBuilder.response(
            to: request,
            authorities: authorities.map { authority in
                OCSPResponseBuilder.Authority(
                    certificate: authority.certificate.handle, signer: authority.signer.certificate.handle,
                    key: authority.signer.key.handle)
            },
            thisUpdate: seconds, nextUpdate: validity.map { seconds + Int($0) }, repeatsNonce: repeatsNonce,
            standing: standing)
    }

    /// The response of a responder that is too busy.
    public static func busy() throws(OpenSSLFailure) -> [UInt8] { try OCSPResponseBuilder.busy() }
}

extension CertificateProfile {
    /// A certificate with which its holder may sign an authority's OCSP responses (RFC 6960, 4.2.2.2).
    public static func responder(notBefore: Date, notAfter: Date) -> CertificateProfile {
        CertificateProfile(
            commonName: "Development OCSP Responder", organization: Certificate.developmentOrganization,
            notBefore: notBefore,
            notAfter: notAfter, isAuthority: false, keyUsage: .digitalSignature,
            extensions: [
                // Extended key usage: a sequence of the one identifier 1.3.6.1.5.5.7.3.9.
                Extension(
                    "2.5.29.37", value: [0x30, 0x0A, 0x06, 0x08, 0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x09])
            ])
    }
}
