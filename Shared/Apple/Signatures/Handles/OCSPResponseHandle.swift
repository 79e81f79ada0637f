import COpenSSL

import struct Foundation.Date

/// One owner of one OCSP_RESPONSE: read, not yet trusted.
final class OCSPResponseHandle {
    private let response: OpaquePointer

    /// Nothing may follow the response.
    init(der: [UInt8]) throws(OCSPFault) {
        let parsed: OpaquePointer? = der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            guard let parsed = d2i_OCSP_RESPONSE(nil, &cursor, buffer.count) else { return nil }
            guard cursor == buffer.baseAddress.map({ $0 + buffer.count }) else {
                OCSP_RESPONSE_free(parsed)
                return nil
            }
            return parsed
        }
        // The error queue belongs to the thread and must not affect the next caller.
        ERR_clear_error()
        guard let parsed else { throw .unreadable }
        response = parsed
    }

    deinit { OCSP_RESPONSE_free(response) }

    /// Its content, if its signature, its signer, its nonce and its subject are right.
    ///
    /// - Parameter time: seconds since 1970 at which the signer's certificate has to be valid. The validity of the
    ///   answer itself is left to the caller.
    func answer(
        to request: OCSPRequestHandle, issuer: CertificateHandle, at time: Int
    ) throws(OCSPFault) -> OCSPAnswer {
        defer { ERR_clear_error() }
        let status = OCSP_response_status(response)
        guard status == OCSP_RESPONSE_STATUS_SUCCESSFUL else {
            throw .declined(String(cString: OCSP_response_status_str(Int(status))))
        }
        guard let basic = OCSP_response_get1_basic(response) else { throw .unreadable }
        defer { OCSP_BASICRESP_free(basic) }
        try Self.verifySigner(of: basic, issuer: issuer, at: time)
        return try request.withPointers { request, identifier throws(OCSPFault) in
            // 1 the same, 2 none in either, -1 only in the request: any other is the answer to another request.
            guard [1, 2, -1].contains(OCSP_check_nonce(request, basic)) else { throw .otherNonce }
            return try Self.finding(identifier, in: basic)
        }
    }

    /// The issuer is the only trust anchor, whatever its own place: its signature, or that of a certificate which it
    /// issued for signing OCSP responses. OpenSSL checks the delegation.
    private static func verifySigner(
        of basic: OpaquePointer, issuer: CertificateHandle, at time: Int
    ) throws(OCSPFault) {
        let store = X509_STORE_new()
        let certificates = COpenSSL_certificates_new()
        defer {
            X509_STORE_free(store)
            // Frees the stack; the certificate has its owner.
            COpenSSL_certificates_free(certificates)
        }
        let verified = issuer.withPointer { issuer -> Bool in
            guard let store, let certificates, X509_STORE_add_cert(store, issuer) == 1,
                COpenSSL_certificates_push(certificates, issuer) > 0
            else { return false }
            let parameters = X509_STORE_get0_param(store)
            X509_VERIFY_PARAM_set_time(parameters, time)
            // At least 112 bits, as for the chains of payloads.
            X509_VERIFY_PARAM_set_auth_level(parameters, 2)
            let flags = UInt(OCSP_PARTIAL_CHAIN) | UInt(OCSP_NOEXPLICIT)
            return OCSP_basic_verify(basic, certificates, store, flags) == 1
        }
        guard verified else { throw .untrusted(OpenSSLFailure("verifying its signature").detail) }
    }

    private static func finding(_ identifier: OpaquePointer, in basic: OpaquePointer) throws(OCSPFault) -> OCSPAnswer {
        var status: Int32 = 0
        var reason: Int32 = 0
        var revoked: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        var this: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        var next: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        guard OCSP_resp_find_status(basic, identifier, &status, &reason, &revoked, &this, &next) == 1 else {
            throw .otherCertificate
        }
        guard let thisUpdate = date(this) else { throw .unreadable }
        let standing: OCSPAnswer.Standing
        switch status {
        case V_OCSP_CERTSTATUS_GOOD: standing = .good
        case V_OCSP_CERTSTATUS_REVOKED:
            // -1: the responder gives no reason.
            let text = reason < 0 ? "unspecified" : String(cString: OCSP_crl_reason_str(Int(reason)))
            standing = .revoked(date(revoked) ?? thisUpdate, reason: text)
        default: standing = .unknown
        }
        return OCSPAnswer(standing: standing, thisUpdate: thisUpdate, nextUpdate: date(next))
    }

    private static func date(_ time: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?) -> Date? {
        CertificateHandle.seconds(time).map { Date(timeIntervalSince1970: Double($0)) }
    }
}
