import Signatures

/// A development authority: issues the simulator's certificates, and every deviation from them that must be rejected.
public struct CertificateIssuer: Sendable {
    /// The authority's own certificate.
    public let certificate: Certificate
    /// Signs the certificates that it issues.
    public let key: IssuingKey

    /// An authority from existing parts; they are not compared with each other.
    public init(certificate: Certificate, key: IssuingKey) {
        self.certificate = certificate
        self.key = key
    }

    /// A root: a certificate that is signed with its own key.
    public static func selfSigned(_ profile: CertificateProfile, key: IssuingKey) throws -> CertificateIssuer {
        let der = try CertificateBuilder.build(profile, subjectKey: key.handle, issuer: nil, issuerKey: key.handle)
        return CertificateIssuer(certificate: try Certificate(der: der), key: key)
    }

    /// A certificate for this key, signed by the authority, whether or not the authority is allowed to.
    public func issue(_ profile: CertificateProfile, for subjectKey: IssuingKey) throws -> Certificate {
        let der = try CertificateBuilder.build(
            profile, subjectKey: subjectKey.handle, issuer: certificate.handle, issuerKey: key.handle)
        return try Certificate(der: der)
    }

    /// Issues a certificate that can issue in turn.
    public func issueAuthority(_ profile: CertificateProfile, for subjectKey: IssuingKey) throws -> CertificateIssuer {
        CertificateIssuer(certificate: try issue(profile, for: subjectKey), key: subjectKey)
    }
}
