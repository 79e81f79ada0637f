import COpenSSL

/// One owner of one public key on P-256, made ready for checking signatures.
final class VerifyingKeyHandle: @unchecked Sendable {
    // because the EC_KEY is only read after `init`, and OpenSSL allows checking with one key from several threads.
    private let key: OpaquePointer

    /// Nil where the bytes are not a point on P-256.
    init?(uncompressedPoint point: [UInt8]) {
        guard let key = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1) else { return nil }
        // EC_KEY_oct2key checks that the point is on the curve, EC_KEY_check_key that it is not at infinity.
        guard EC_KEY_oct2key(key, point, point.count, nil) == 1, EC_KEY_check_key(key) == 1 else {
            EC_KEY_free(key)
            ERR_clear_error()
            return nil
        }
        self.key = key
    }

    deinit { EC_KEY_free(key) }

    /// Whether r‖s, 64 bytes, is a signature over this digest. Any other outcome, memory included, is no.
    func isValid(_ signature: ArraySlice<UInt8>, overDigest digest: [UInt8]) -> Bool {
        guard signature.count == 64, digest.count == 32 else { return false }
        guard let parts = ECDSA_SIG_new() else { return false }
        defer { ECDSA_SIG_free(parts) }
        let isRead = signature.withUnsafeBufferPointer { buffer -> Bool in
            guard let address = buffer.baseAddress, let r = BN_bin2bn(address, 32, nil) else { return false }
            guard let s = BN_bin2bn(address + 32, 32, nil) else {
                BN_free(r)
                return false
            }
            // "set0" takes both over on success; on failure, which only nil arguments cause, they would stay ours.
            return ECDSA_SIG_set0(parts, r, s) == 1
        }
        guard isRead else { return false }
        // 1 valid, 0 not, -1 could not be checked (r or s out of range, for one).
        let result = ECDSA_do_verify(digest, 32, parts, key)
        if result != 1 { ERR_clear_error() }
        return result == 1
    }
}
