import COpenSSL

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// One owner of one X509.
package final class CertificateHandle: @unchecked Sendable {
    // because nothing here changes the X509 after `init`; OpenSSL's own caching of its extensions takes a lock inside.
    private let certificate: OpaquePointer

    /// Frees it in deinit.
    package init(takingOwnershipOf certificate: OpaquePointer) { self.certificate = certificate }

    deinit { X509_free(certificate) }

    /// Nil where the bytes are not exactly one certificate in DER: what follows it, or a length in more bytes than
    /// needed, would let two byte strings be the same certificate.
    convenience init?(der: [UInt8]) {
        let parsed: OpaquePointer? = der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            guard let parsed = d2i_X509(nil, &cursor, buffer.count) else { return nil }
            guard cursor == buffer.baseAddress.map({ $0 + buffer.count }) else {
                X509_free(parsed)
                return nil
            }
            return parsed
        }
        // The error queue belongs to the thread and must not affect the next caller.
        defer { ERR_clear_error() }
        guard let parsed else { return nil }
        self.init(takingOwnershipOf: parsed)
        // Reads all extensions once; one that cannot be read marks the certificate as invalid.
        guard X509_check_purpose(parsed, -1, 0) == 1, X509_get_extension_flags(parsed) & UInt32(EXFLAG_INVALID) == 0,
            encoded == der
        else { return nil }
    }

    package func withPointer<Result, Failure>(
        _ body: (OpaquePointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withExtendedLifetime(self) { () throws(Failure) -> Result in try body(certificate) }
    }

    /// The DER encoding.
    package var encoded: [UInt8] {
        let length = i2d_X509(certificate, nil)
        guard length > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
            var cursor = buffer.baseAddress
            count = max(0, Int(i2d_X509(certificate, &cursor)))
        }
    }

    var subject: String { Self.text(X509_get_subject_name(certificate)) }
    var issuer: String { Self.text(X509_get_issuer_name(certificate)) }

    /// Big-endian magnitude in hexadecimal.
    var serialNumber: String { Self.hexadecimal(X509_get0_serialNumber(certificate)) }

    /// The magnitude of a number, upper case.
    package static func hexadecimal(_ number: UnsafePointer<ASN1_INTEGER>?) -> String {
        guard let number = ASN1_INTEGER_to_BN(number, nil) else { return "" }
        defer { BN_free(number) }
        guard let text = BN_bn2hex(number) else { return "" }
        defer { CRYPTO_free(text, #file, #line) }
        return String(cString: text)
    }

    /// Seconds since 1970.
    var notBefore: Int? { Self.seconds(X509_get0_notBefore(certificate)) }
    var notAfter: Int? { Self.seconds(X509_get0_notAfter(certificate)) }

    var isAuthority: Bool { X509_check_ca(certificate) == 1 }

    /// Nil where the certificate has no key usage extension.
    var keyUsage: UInt32? {
        let usage = X509_get_key_usage(certificate)
        return usage == .max ? nil : usage
    }

    func isSigned(by issuer: CertificateHandle) -> Bool {
        defer { ERR_clear_error() }
        return issuer.withPointer { X509_verify(certificate, X509_get0_pubkey($0)) == 1 }
    }

    func hasExtension(_ identifier: String) -> Bool {
        guard let object = OBJ_txt2obj(identifier, 1) else { return false }
        defer { ASN1_OBJECT_free(object) }
        return X509_get_ext_by_OBJ(certificate, object, -1) >= 0
    }

    /// The addresses of responders in the authority information access extension.
    var ocspAddresses: [String] {
        guard let addresses = X509_get1_ocsp(certificate) else { return [] }
        defer { X509_email_free(addresses) }
        return (0..<max(0, COpenSSL_strings_count(addresses))).compactMap { index in
            COpenSSL_strings_at(addresses, index).map { String(cString: $0) }
        }
    }

    /// OpenSSL's name of the curve, for elliptic curve keys on a named curve.
    var curve: String? {
        guard let key = X509_get0_pubkey(certificate), EVP_PKEY_get_base_id(key) == EVP_PKEY_EC else { return nil }
        var name = [CChar](repeating: 0, count: 64)
        guard EVP_PKEY_get_group_name(key, &name, name.count, nil) == 1 else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The size of an RSA key in bits, else nil.
    var rsaBits: Int? {
        guard let key = X509_get0_pubkey(certificate), EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA else { return nil }
        return Int(EVP_PKEY_get_bits(key))
    }

    /// The public point of an elliptic curve key, uncompressed (X9.63).
    var publicPoint: [UInt8]? {
        guard let key = X509_get0_pubkey(certificate), let curveKey = EVP_PKEY_get0_EC_KEY(key),
            let group = EC_KEY_get0_group(curveKey), let point = EC_KEY_get0_public_key(curveKey)
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: 256)
        let length = EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, nil)
        return length == 0 ? nil : Array(bytes.prefix(length))
    }

    /// RFC 2253, with UTF-8 as it is.
    private static func text(_ name: OpaquePointer?) -> String {
        guard let name, let memory = BIO_new(BIO_s_mem()) else { return "" }
        defer { BIO_free(memory) }
        guard COpenSSL_print_name(memory, name) >= 0 else { return "" }
        var contents: UnsafeMutablePointer<CChar>?
        let length = COpenSSL_memory_contents(memory, &contents)
        guard let contents, length > 0 else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: contents, count: length), as: UTF8.self)
    }

    /// Seconds since 1970.
    static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int? {
        var parts = tm()
        guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        return timegm(&parts)
    }
}
