import struct Foundation.Date

/// PKCS#7 signed data of a proven signer: one signer, whose chain is in the message and ends in a trusted root.
/// App receipts are such messages.
///
/// <https://developer.apple.com/documentation/appstorereceipts/validating_receipts_on_the_device>
public struct SignedMessage: Sendable {
    /// Why a message is not proven.
    public enum Fault: Error, Sendable, Hashable {
        /// Not exactly one message of signed data with one signer and a few certificates.
        case malformed
        /// The signature is not over the content, or not by a certificate of the message.
        case signature
        /// The signer's chain does not end in a trusted root.
        case chain(ChainFailure)
    }

    /// What was signed, without the signature.
    public let content: [UInt8]
    /// The first second in which the certificates of signer, intermediate and root are all valid.
    public let validFrom: Date
    /// The last second in which they all are.
    public let validUntil: Date

    private static let mostCertificates = 10

    /// Proves a message. The time of signing is not checked: see ``validFrom`` and ``validUntil``.
    ///
    /// - Throws: `OpenSSLFailure` where OpenSSL could not check at all.
    public static func prove(_ bytes: [UInt8], trust: TrustStore) throws(OpenSSLFailure) -> Result<SignedMessage, Fault>
    {
        guard let message = SignedMessageHandle(bytes) else { return .failure(.malformed) }
        let certificates = message.certificates()
        guard (2...mostCertificates).contains(certificates.count) else { return .failure(.malformed) }
        guard let content = message.signedContent(), let leaf = message.signer() else { return .failure(.signature) }
        func issuer(of certificate: Certificate) -> Certificate? {
            certificates.first { $0.subject == certificate.issuer && $0 != certificate }
        }
        guard let intermediate = issuer(of: leaf) else {
            return .failure(.chain(.untrusted("the certificate that issued the signer's does not come with it")))
        }
        // A configured root need not be in the message; a certificate that is not pinned plays no part.
        let proof = try ChainValidator(trust: trust).root(
            of: leaf, intermediate: intermediate, offered: issuer(of: intermediate) ?? intermediate, acceptsSHA1: true)
        switch proof {
        case .failure(let failure): return .failure(.chain(failure))
        case .success(let root):
            let chain = [leaf, intermediate, root]
            return .success(
                SignedMessage(
                    content: content, validFrom: chain.map(\.notBefore).max() ?? .distantFuture,
                    validUntil: chain.map(\.notAfter).min() ?? .distantPast))
        }
    }
}
