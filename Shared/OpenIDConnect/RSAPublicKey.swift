import COpenSSL
import Digests

/// Checks signatures of the form JWS uses for RS256.
final class RSAPublicKey: @unchecked Sendable {
    // because the RSA is only read after `init`, and OpenSSL allows checking with one key from several threads.
    private let key: OpaquePointer

    /// Nil where the numbers are no key of 2048 to 8192 bits.
    init?(modulus: [UInt8], exponent: [UInt8]) {
        guard (256...1024).contains(modulus.count), (1...4).contains(exponent.count),
            let n = BN_bin2bn(modulus, Int32(modulus.count), nil)
        else { return nil }
        guard let e = BN_bin2bn(exponent, Int32(exponent.count), nil) else {
            BN_free(n)
            return nil
        }
        // RSA_set0_key takes both over on success; before it they would stay here.
        guard BN_num_bits(n) >= 2048, BN_is_odd(n) == 1, BN_is_odd(e) == 1, BN_num_bits(e) > 1,
            let key = RSA_new()
        else {
            BN_free(n)
            BN_free(e)
            return nil
        }
        guard RSA_set0_key(key, n, e, nil) == 1 else {
            BN_free(n)
            BN_free(e)
            RSA_free(key)
            return nil
        }
        self.key = key
    }

    deinit { RSA_free(key) }

    /// Whether this signs these bytes with SHA-256 and the padding of PKCS #1 v1.5. Any other outcome is no.
    func isValid(signature: [UInt8], over bytes: ArraySlice<UInt8>) -> Bool {
        let digest = SHA256Hash.digest(Array(bytes))
        let isValid =
            RSA_verify(NID_sha256, digest, UInt32(digest.count), signature, UInt32(signature.count), key) == 1
        if !isValid { ERR_clear_error() }
        return isValid
    }
}
