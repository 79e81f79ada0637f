import COpenSSL

/// OpenSSL's path building from a leaf over one intermediate to one of the given anchors.
///
/// Time is left out: a chain is proven once and its validity checked for each payload at that payload's own date.
enum PathVerification {
    enum Outcome {
        /// The anchor's place among those that were given.
        case path(anchor: Int)
        case rejected(ChainFailure)
    }

    /// - Parameter acceptsSHA1: also certificates that were signed over a SHA-1.
    static func run(
        leaf: CertificateHandle, intermediate: CertificateHandle, anchors: [CertificateHandle],
        acceptsSHA1: Bool = false
    ) throws(OpenSSLFailure) -> Outcome {
        let context = try OpenSSLFailure.unwrap(X509_STORE_CTX_new(), "preparing path verification")
        let untrusted = COpenSSL_certificates_new()
        let trusted = COpenSSL_certificates_new()
        // The context only refers to the stacks, and the stacks to the certificates, which their owners outlive.
        defer {
            X509_STORE_CTX_free(context)
            COpenSSL_certificates_free(untrusted)
            COpenSSL_certificates_free(trusted)
            ERR_clear_error()
        }
        intermediate.withPointer { _ = COpenSSL_certificates_push(untrusted, $0) }
        for anchor in anchors { anchor.withPointer { _ = COpenSSL_certificates_push(trusted, $0) } }
        guard COpenSSL_certificates_count(untrusted) == 1, COpenSSL_certificates_count(trusted) == anchors.count else {
            throw OpenSSLFailure("preparing path verification")
        }
        return try leaf.withPointer { leafPointer throws(OpenSSLFailure) in
            try OpenSSLFailure.check(
                X509_STORE_CTX_init(context, nil, leafPointer, untrusted), "preparing path verification")
            X509_STORE_CTX_set0_trusted_stack(context, trusted)
            let parameters = X509_STORE_CTX_get0_param(context)
            let flags = UInt(X509_V_FLAG_X509_STRICT) | UInt(X509_V_FLAG_NO_CHECK_TIME)
            try OpenSSLFailure.check(X509_VERIFY_PARAM_set_flags(parameters, flags), "preparing path verification")
            // At least 112 bits: SHA-1 signatures and RSA below 2048 bits are rejected.
            X509_VERIFY_PARAM_set_auth_level(parameters, acceptsSHA1 ? 0 : 2)
            guard X509_verify_cert(context) == 1 else {
                let code = X509_STORE_CTX_get_error(context)
                return .rejected(meaning(of: code, leaf: leafPointer, intermediate: intermediate))
            }
            return judge(X509_STORE_CTX_get0_chain(context), intermediate: intermediate, anchors: anchors)
        }
    }

    /// The path that was found must be the one of the header: through the intermediate, to a root.
    private static func judge(
        _ path: OpaquePointer?, intermediate: CertificateHandle, anchors: [CertificateHandle]
    ) -> Outcome {
        let count = Int(COpenSSL_certificates_count(path))
        guard count == 3 else { return .rejected(.wrongLength(count)) }
        let second = COpenSSL_certificates_at(path, 1)
        guard intermediate.withPointer({ X509_cmp($0, second) }) == 0 else { return .rejected(.wrongLength(count)) }
        let last = COpenSSL_certificates_at(path, 2)
        guard let anchor = anchors.firstIndex(where: { $0.withPointer { X509_cmp($0, last) } == 0 }) else {
            return .rejected(.untrusted("the path does not end in a trusted root"))
        }
        return .path(anchor: anchor)
    }

    /// The one place that decides what an error of path verification means.
    private static func meaning(
        of code: Int32, leaf: OpaquePointer, intermediate: CertificateHandle
    ) -> ChainFailure {
        let text = String(cString: X509_verify_cert_error_string(Int(code)))
        switch code {
        case X509_V_ERR_KEYUSAGE_NO_CERTSIGN, X509_V_ERR_CA_CERT_MISSING_KEY_USAGE,
            X509_V_ERR_KU_KEY_CERT_SIGN_INVALID_FOR_NON_CA:
            return .keyUsage(text)
        case X509_V_ERR_PATH_LENGTH_EXCEEDED, X509_V_ERR_CERT_CHAIN_TOO_LONG, X509_V_ERR_PATHLEN_INVALID_FOR_NON_CA,
            X509_V_ERR_PATHLEN_WITHOUT_KU_KEY_CERT_SIGN:
            return .pathLength(text)
        case X509_V_ERR_INVALID_CA where intermediate.keyUsage.map { $0 & UInt32(KU_KEY_CERT_SIGN) == 0 } ?? false:
            return .keyUsage("the intermediate may not sign certificates")
        case X509_V_ERR_INVALID_CA, X509_V_ERR_INVALID_NON_CA, X509_V_ERR_CA_BCONS_NOT_CRITICAL:
            return .basicConstraints(text)
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
            // An intermediate that may not sign certificates is passed over while the path is built; say so.
            let issued = intermediate.withPointer { X509_check_issued($0, leaf) }
            return issued == X509_V_ERR_KEYUSAGE_NO_CERTSIGN
                ? .keyUsage("the intermediate may not sign certificates") : .untrusted(text)
        default:
            return .untrusted(text)
        }
    }
}
