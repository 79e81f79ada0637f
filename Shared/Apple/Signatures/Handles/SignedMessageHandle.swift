import COpenSSL

/// One owner of one CMS_ContentInfo: signed data as PKCS#7 and CMS have it.
///
/// Used by one thread: verifying keeps the signer's certificate inside.
final class SignedMessageHandle {
    private let message: OpaquePointer

    deinit { CMS_ContentInfo_free(message) }

    /// Nil where the bytes are not exactly one message of signed data with one signer.
    init?(_ bytes: [UInt8]) {
        defer { ERR_clear_error() }
        let parsed: OpaquePointer? = bytes.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            guard let parsed = d2i_CMS_ContentInfo(nil, &cursor, buffer.count) else { return nil }
            guard cursor == buffer.baseAddress.map({ $0 + buffer.count }) else {
                CMS_ContentInfo_free(parsed)
                return nil
            }
            return parsed
        }
        guard let parsed else { return nil }
        message = parsed
        guard OBJ_obj2nid(CMS_get0_type(parsed)) == NID_pkcs7_signed,
            COpenSSL_signers_count(CMS_get0_SignerInfos(parsed)) == 1
        else { return nil }
    }

    /// The content, if it is in the message and the signer's signature over it is valid; the owner of that certificate is
    /// not checked.
    func signedContent() -> [UInt8]? {
        defer { ERR_clear_error() }
        guard CMS_is_detached(message) == 0, let memory = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(memory) }
        let flags = UInt32(CMS_BINARY | CMS_NO_SIGNER_CERT_VERIFY)
        guard CMS_verify(message, nil, nil, nil, memory, flags) == 1 else { return nil }
        var contents: UnsafeMutablePointer<CChar>?
        let length = COpenSSL_memory_contents(memory, &contents)
        guard let contents, length > 0 else { return [] }
        return Array(UnsafeRawBufferPointer(start: contents, count: length))
    }

    /// The certificate of the valid signature; nil before that.
    func signer() -> Certificate? {
        // The stack belongs to this function, the certificates to the message.
        guard let signers = CMS_get0_signers(message) else { return nil }
        defer { COpenSSL_certificates_free(signers) }
        return Self.certificates(in: signers).first
    }

    /// All certificates of the message, in their order.
    func certificates() -> [Certificate] {
        guard let certificates = CMS_get1_certs(message) else { return [] }
        defer { COpenSSL_certificates_release(certificates) }
        return Self.certificates(in: certificates)
    }

    private static func certificates(in stack: OpaquePointer) -> [Certificate] {
        (0..<max(0, COpenSSL_certificates_count(stack))).compactMap { index in
            guard let certificate = COpenSSL_certificates_at(stack, index), X509_up_ref(certificate) == 1 else {
                return nil
            }
            return try? Certificate(der: CertificateHandle(takingOwnershipOf: certificate).encoded)
        }
    }
}
