import COpenSSL

/// One owner of one OCSP_REQUEST about one certificate.
final class OCSPRequestHandle: @unchecked Sendable {
    // because nothing changes the request or the identifier after `init`.
    private let request: OpaquePointer
    /// Names the certificate; belongs to the request.
    private let identifier: OpaquePointer

    /// SHA-1 in the identifier is what every responder understands (RFC 5019); it only looks the certificate up.
    init(
        certificate: CertificateHandle, issuer: CertificateHandle, nonce: [UInt8]
    ) throws(OpenSSLFailure) {
        let request = try OpenSSLFailure.unwrap(OCSP_REQUEST_new(), "creating an OCSP request")
        let identifier = certificate.withPointer { certificate in
            issuer.withPointer { OCSP_cert_to_id(EVP_sha1(), certificate, $0) }
        }
        // "add0" takes the identifier over on success; on failure it still belongs to this function.
        guard let identifier, OCSP_request_add0_id(request, identifier) != nil else {
            OCSP_CERTID_free(identifier)
            OCSP_REQUEST_free(request)
            throw OpenSSLFailure("naming a certificate in an OCSP request")
        }
        var nonce = nonce
        guard nonce.isEmpty || OCSP_request_add1_nonce(request, &nonce, Int32(clamping: nonce.count)) == 1 else {
            OCSP_REQUEST_free(request)
            throw OpenSSLFailure("adding a nonce to an OCSP request")
        }
        self.request = request
        self.identifier = identifier
    }

    deinit { OCSP_REQUEST_free(request) }

    func encoded() throws(OpenSSLFailure) -> [UInt8] {
        try OpenSSLFailure.bytes("encoding an OCSP request") { i2d_OCSP_REQUEST(request, $0) }
    }

    func withPointers<Result, Failure>(
        _ body: (_ request: OpaquePointer, _ identifier: OpaquePointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withExtendedLifetime(self) { () throws(Failure) -> Result in try body(request, identifier) }
    }
}

extension OpenSSLFailure {
    /// What an `i2d_…` function writes: asked for the length first, then for the bytes.
    package static func bytes(
        _ operation: String, _ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    ) throws(OpenSSLFailure) -> [UInt8] {
        let length = write(nil)
        guard length > 0 else { throw OpenSSLFailure(operation) }
        return [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
            var cursor = buffer.baseAddress
            count = max(0, Int(write(&cursor)))
        }
    }
}
