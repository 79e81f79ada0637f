import COpenSSL

/// One owner of one EVP_PKEY that holds a private key.
package final class PrivateKeyHandle: @unchecked Sendable {
    // because the key is not changed after `init`, and OpenSSL allows signing with one key from several threads.
    private let key: OpaquePointer
    /// The same key in the form that signs without a lookup per message; nil unless on an elliptic curve.
    private let curveKey: OpaquePointer?

    /// Frees it in deinit.
    init(takingOwnershipOf key: OpaquePointer) {
        self.key = key
        // "get1" returns a new reference.
        curveKey = EVP_PKEY_get_base_id(key) == EVP_PKEY_EC ? EVP_PKEY_get1_EC_KEY(key) : nil
    }

    deinit {
        EC_KEY_free(curveKey)
        EVP_PKEY_free(key)
    }

    /// A new key from OpenSSL's generator.
    static func generate(_ kind: IssuingKey.Kind) throws(OpenSSLFailure) -> PrivateKeyHandle {
        let type: Int32
        switch kind {
        case .p256, .p384: type = EVP_PKEY_EC
        case .rsa: type = EVP_PKEY_RSA
        }
        let context = try OpenSSLFailure.unwrap(EVP_PKEY_CTX_new_id(type, nil), "creating a key context")
        defer { EVP_PKEY_CTX_free(context) }
        try OpenSSLFailure.check(EVP_PKEY_keygen_init(context), "preparing key generation")
        let configured =
            switch kind {
            case .p256: EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1)
            case .p384: EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_secp384r1)
            case .rsa(let bits): EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(clamping: bits))
            }
        try OpenSSLFailure.check(configured, "choosing the kind of key")
        var key: OpaquePointer?
        try OpenSSLFailure.check(EVP_PKEY_keygen(context, &key), "generating a key")
        return PrivateKeyHandle(takingOwnershipOf: try OpenSSLFailure.unwrap(key, "generating a key"))
    }

    /// The first private key of a PEM text (PKCS#8, as in Apple's .p8 files, or the older forms), without a password.
    static func read(pem: [UInt8]) throws(OpenSSLFailure) -> PrivateKeyHandle {
        let key = pem.withUnsafeBytes { buffer -> OpaquePointer? in
            guard let memory = BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else { return nil }
            defer { BIO_free(memory) }
            // The callback answers "no password"; OpenSSL would otherwise ask the terminal.
            return PEM_read_bio_PrivateKey(memory, nil, { _, _, _, _ in -1 }, nil)
        }
        return PrivateKeyHandle(takingOwnershipOf: try OpenSSLFailure.unwrap(key, "reading a private key from PEM"))
    }

    package func withPointer<Result, Failure>(_ body: (OpaquePointer) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        try withExtendedLifetime(self) { () throws(Failure) -> Result in try body(key) }
    }

    /// PKCS#8 in PEM, unencrypted.
    func pem() throws(OpenSSLFailure) -> String {
        let memory = try OpenSSLFailure.unwrap(BIO_new(BIO_s_mem()), "allocating memory")
        defer { BIO_free(memory) }
        try OpenSSLFailure.check(
            PEM_write_bio_PKCS8PrivateKey(memory, key, nil, nil, 0, nil, nil), "writing a private key")
        var contents: UnsafeMutablePointer<CChar>?
        let length = COpenSSL_memory_contents(memory, &contents)
        guard let contents, length > 0 else { throw OpenSSLFailure("writing a private key") }
        return String(decoding: UnsafeRawBufferPointer(start: contents, count: length), as: UTF8.self)
    }

    /// OpenSSL's name of the curve; nil for other keys.
    var curve: String? {
        var name = [CChar](repeating: 0, count: 64)
        guard curveKey != nil, EVP_PKEY_get_group_name(key, &name, name.count, nil) == 1 else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The public point, uncompressed; nil for keys that are not on a curve.
    var publicPoint: [UInt8]? {
        guard let curveKey, let group = EC_KEY_get0_group(curveKey), let point = EC_KEY_get0_public_key(curveKey) else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: 256)
        let length = EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, nil)
        return length == 0 ? nil : Array(bytes.prefix(length))
    }

    /// r and s of an ECDSA signature over a digest, each padded to `width` bytes.
    func rawSignature(overDigest digest: [UInt8], width: Int) throws(OpenSSLFailure) -> [UInt8] {
        let signature = try OpenSSLFailure.unwrap(
            ECDSA_do_sign(digest, Int32(digest.count), curveKey), "signing")
        defer { ECDSA_SIG_free(signature) }
        var bytes = [UInt8](repeating: 0, count: width * 2)
        let written = bytes.withUnsafeMutableBufferPointer { buffer -> Bool in
            guard let address = buffer.baseAddress else { return false }
            return BN_bn2binpad(ECDSA_SIG_get0_r(signature), address, Int32(width)) == width
                && BN_bn2binpad(ECDSA_SIG_get0_s(signature), address + width, Int32(width)) == width
        }
        guard written else { throw OpenSSLFailure("writing a signature") }
        return bytes
    }

    /// An ECDSA signature over a digest in its DER form.
    func derSignature(overDigest digest: [UInt8]) throws(OpenSSLFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(ECDSA_size(curveKey)))
        var length: UInt32 = 0
        try OpenSSLFailure.check(
            ECDSA_sign(0, digest, Int32(digest.count), &bytes, &length, curveKey), "signing")
        return Array(bytes.prefix(Int(length)))
    }
}
