import COpenSSL
import Signatures

import struct Foundation.Date

/// Creates OCSP responses, valid ones and, with another signer, invalid ones.
enum OCSPResponseBuilder {
    struct Authority {
        let certificate: CertificateHandle
        let signer: CertificateHandle
        let key: PrivateKeyHandle
    }

    static func busy() throws(OpenSSLFailure) -> [UInt8] { try encoded(OCSP_RESPONSE_STATUS_TRYLATER, nil) }

    static func response(
        to der: [UInt8], authorities: [Authority], thisUpdate: Int, nextUpdate: Int?, repeatsNonce: Bool,
        standing: (String) -> OCSPAnswer.Standing
    ) throws(OpenSSLFailure) -> [UInt8] {
        defer { ERR_clear_error() }
        let request: OpaquePointer? = der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_OCSP_REQUEST(nil, &cursor, buffer.count)
        }
        guard let request else { return try encoded(OCSP_RESPONSE_STATUS_MALFORMEDREQUEST, nil) }
        defer { OCSP_REQUEST_free(request) }
        // They belong to the request.
        let identifiers = (0..<max(0, OCSP_request_onereq_count(request))).compactMap {
            OCSP_onereq_get0_id(OCSP_request_onereq_get0(request, $0))
        }
        guard let first = identifiers.first, identifiers.allSatisfy(isEncodable) else {
            return try encoded(OCSP_RESPONSE_STATUS_MALFORMEDREQUEST, nil)
        }
        // One signature is for one authority.
        guard identifiers.allSatisfy({ OCSP_id_issuer_cmp($0, first) == 0 }),
            let authority = authorities.first(where: { issued(first, by: $0.certificate) })
        else { return try encoded(OCSP_RESPONSE_STATUS_UNAUTHORIZED, nil) }
        let basic = try OpenSSLFailure.unwrap(OCSP_BASICRESP_new(), "creating an OCSP response")
        defer { OCSP_BASICRESP_free(basic) }
        for identifier in identifiers {
            try add(
                standing(serialNumber(of: identifier)), of: identifier, to: basic, thisUpdate: thisUpdate,
                nextUpdate: nextUpdate)
        }
        // 1 copied, 2 there was none.
        guard !repeatsNonce || OCSP_copy_nonce(basic, request) > 0 else { throw OpenSSLFailure("copying a nonce") }
        let signed = authority.signer.withPointer { signer in
            authority.key.withPointer { OCSP_basic_sign(basic, signer, $0, EVP_sha256(), nil, 0) }
        }
        try OpenSSLFailure.check(signed, "signing an OCSP response")
        return try encoded(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic)
    }

    private static func encoded(_ status: Int32, _ basic: OpaquePointer?) throws(OpenSSLFailure) -> [UInt8] {
        // Copies the inner response.
        let response = try OpenSSLFailure.unwrap(OCSP_response_create(status, basic), "creating an OCSP response")
        defer { OCSP_RESPONSE_free(response) }
        return try OpenSSLFailure.bytes("encoding an OCSP response") { i2d_OCSP_RESPONSE(response, $0) }
    }

    /// OpenSSL decodes parameters of a hash algorithm that it cannot encode for a response.
    private static func isEncodable(_ identifier: OpaquePointer) -> Bool {
        guard let copy = OCSP_CERTID_dup(identifier) else { return false }
        OCSP_CERTID_free(copy)
        return true
    }

    private static func issued(_ identifier: OpaquePointer, by authority: CertificateHandle) -> Bool {
        var serial: UnsafeMutablePointer<ASN1_INTEGER>?
        guard OCSP_id_get0_info(nil, nil, nil, &serial, identifier) == 1 else { return false }
        let own = authority.withPointer { certificate in
            OCSP_cert_id_new(
                EVP_sha1(), X509_get_subject_name(certificate), X509_get0_pubkey_bitstr(certificate), serial)
        }
        guard let own else { return false }
        defer { OCSP_CERTID_free(own) }
        return OCSP_id_issuer_cmp(own, identifier) == 0
    }

    private static func serialNumber(of identifier: OpaquePointer) -> String {
        var serial: UnsafeMutablePointer<ASN1_INTEGER>?
        guard OCSP_id_get0_info(nil, nil, nil, &serial, identifier) == 1 else { return "" }
        return CertificateHandle.hexadecimal(serial)
    }

    private static func add(
        _ standing: OCSPAnswer.Standing, of identifier: OpaquePointer, to basic: OpaquePointer, thisUpdate: Int,
        nextUpdate: Int?
    ) throws(OpenSSLFailure) {
        let this = try OpenSSLFailure.unwrap(ASN1_TIME_set(nil, thisUpdate), "setting a time")
        defer { ASN1_STRING_free(this) }
        let next = nextUpdate.flatMap { ASN1_TIME_set(nil, $0) }
        defer { ASN1_STRING_free(next) }
        var status = V_OCSP_CERTSTATUS_UNKNOWN
        var revocation: UnsafeMutablePointer<ASN1_TIME>?
        defer { ASN1_STRING_free(revocation) }
        switch standing {
        case .good: status = V_OCSP_CERTSTATUS_GOOD
        case .unknown: break
        case .revoked(let date, _):
            status = V_OCSP_CERTSTATUS_REVOKED
            revocation = ASN1_TIME_set(nil, Int(date.timeIntervalSince1970))
        }
        // Copies identifier and times. Whatever the reason: for a development responder, unspecified.
        let added = OCSP_basic_add1_status(
            basic, identifier, status, OCSP_REVOKED_STATUS_UNSPECIFIED, revocation, this, next)
        guard added != nil else { throw OpenSSLFailure("adding an answer to an OCSP response") }
    }
}
